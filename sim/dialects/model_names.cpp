// SPDX-License-Identifier: Apache-2.0
#include "sim/dialects/model_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/base/text.hpp"

namespace gradway {
namespace {

bool is_letter_of_model(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// The words of a name, in lower case: letters, digits and dots.
std::vector<std::string> words_of_model(std::string_view name) {
  std::vector<std::string> words;
  bool is_open = false;
  for (const char c : lower_case(name)) {
    const bool is_inside = is_letter_of_model(c) || c == '.';
    if (is_inside && !is_open) words.emplace_back();
    if (is_inside) words.back() += c;
    is_open = is_inside;
  }
  return words;
}

/// "1.3b" as in names of model files: "1b3".
std::string with_unit_inside(const std::string& word) {
  const auto dot = word.find('.');
  if (dot == std::string::npos || dot == 0 || word.size() < dot + 3 || word.back() != 'b') return word;
  return word.substr(0, dot) + "b" + word.substr(dot + 1, word.size() - dot - 2);
}

bool is_release(const std::string& word) {
  return word.size() > 2 && word.front() == 'v' && std::isdigit(static_cast<unsigned char>(word[1])) != 0 &&
         word.find('.') != std::string::npos;
}

/// Letters and digits of a model's name, without words for its publisher or tuning.
/// @param minor with the minor release number: "llama318b" instead of "llama38b"
std::string letters_of_model(std::string_view name, bool minor) {
  constexpr std::array<std::string_view, 8> of_publishers{"hf",       "instruct", "chat", "base",
                                                          "pretrain", "meta",     "it",   "pt"};
  std::string letters;
  const auto model = name.substr(name.rfind('/') + 1);
  for (const auto& word : words_of_model(model)) {
    if (std::ranges::find(of_publishers, word) != of_publishers.end() || is_release(word)) continue;
    const auto inside = with_unit_inside(word);
    const bool cuts = !minor && inside == word;
    std::ranges::copy_if(cuts ? word.substr(0, word.find('.')) : inside, std::back_inserter(letters),
                         is_letter_of_model);
  }
  return letters;
}

}  // namespace

std::vector<std::string> models_alike(std::string_view name, const std::vector<std::string>& known) {
  for (const bool minor : {true, false}) {
    const auto wanted = letters_of_model(name, minor);
    std::vector<std::string> models;
    std::ranges::copy_if(known, std::back_inserter(models), [&](const std::string& model) {
      return !wanted.empty() && letters_of_model(model, true) == wanted;
    });
    if (!models.empty()) return models;
  }
  return {};
}

}  // namespace gradway
