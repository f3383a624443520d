// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/foreign_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/base/text.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/dialects/dialect.hpp"

namespace gradway::config {
namespace {

constexpr std::string_view storage_thing = "a storage tier";

/// The words that a row lists after others.
bool lists(const TextRow& row, std::size_t first, std::string_view word) {
  return std::ranges::count(row.words.begin() + static_cast<std::ptrdiff_t>(first), row.words.end(), word) >
         0;
}

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_number(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The longest runs of characters that `belongs` accepts, in lower case.
template <class Belongs>
std::vector<std::string> words_of(std::string_view text, const Belongs& belongs) {
  std::vector<std::string> words;
  bool open = false;
  for (const char c : lower_case(text)) {
    const bool inside = belongs(c);
    if (inside && !open) words.emplace_back();
    if (inside) words.back() += c;
    open = inside;
  }
  return words;
}

/// Omits the group from its keys: 'gpus' instead of 'job.gpus'.
std::string inside_group(std::string_view hint, std::string_view group) {
  std::string text{hint};
  if (group.empty()) return text;
  const auto prefix = fmt::format("'{}.", group);
  for (auto position = text.find(prefix); position != std::string::npos;
       position = text.find(prefix, position + 1))
    text.replace(position, prefix.size(), "'");
  return text;
}

/// Hint for a word that other trainers have for a thing; empty: unknown.
std::string hint_for_foreign_word(std::string_view thing, std::string_view word) {
  const auto row = std::ranges::find_if(foreign_words(), [&](const TextRow& candidate) {
    return candidate.kind == "value" && candidate.word(0) == thing && lists(candidate, 2, word);
  });
  return row == foreign_words().end() ? "" : hint_sentence(row->word(1));
}

}  // namespace

std::string hint_for_foreign_key(std::string_view group, std::string_view key) {
  auto plain = lower_case(key);
  std::ranges::replace(plain, '-', '_');
  const auto row = std::ranges::find_if(foreign_words(), [&](const TextRow& candidate) {
    const auto needed = candidate.value("group");
    return candidate.kind == "key" && lists(candidate, 1, plain) && (needed.empty() || needed == group);
  });
  return row == foreign_words().end() ? hint_for_trainer_key(plain) : hint_sentence(row->word(0));
}

std::string hint_for_key(std::string_view group, std::string_view key,
                         const std::vector<std::string>& known) {
  const auto foreign = hint_for_foreign_key(group, key);
  return foreign.empty() ? suggestion(key, known) : inside_group(foreign, group);
}

std::string hint_for_word(std::string_view thing, std::string_view word,
                          const std::vector<std::string>& known) {
  const auto hint = hint_for_foreign_word(thing, lower_case(word));
  return hint.empty() ? suggestion(word, known) : hint;
}

std::string hint_for_accelerator(std::string_view name) {
  const auto words = words_of(name, is_alnum);
  for (const auto& row : foreign_words()) {
    if (row.kind != "accelerator") continue;
    const auto match = row.word(1);
    const auto is_meant = [&](const std::string& word) {
      return std::ranges::any_of(row.words.begin() + 2, row.words.end(), [&](std::string_view known) {
        return match == "start" ? word.starts_with(known) : word == known;
      });
    };
    const auto some = match == "first" ? std::min<std::size_t>(1, words.size()) : words.size();
    if (std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(some), is_meant))
      return fmt::format(
          "gradway does not model {}, only NVIDIA GPUs with NCCL: choose a platform of 'gradway list "
          "platforms', or measure the step on that hardware",
          row.word(0));
  }
  return "";
}

std::string hint_for_storage(std::string_view name) {
  auto plain = lower_case(name);
  std::ranges::replace_if(
      plain, [](char c) { return c == ' ' || c == '_'; }, '-');
  return hint_for_foreign_word(storage_thing, plain);
}

std::vector<std::string> gpu_words(std::string_view platform) {
  std::vector<std::string> words;
  for (auto& word : words_of(platform, is_alnum)) {
    // "8xh100" counts GPUs first.
    const auto times = word.find('x');
    const bool counts =
        times != std::string::npos && times > 0 && times + 1 < word.size() &&
        std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(times), is_number);
    if (counts) word.erase(0, times + 1);
    const bool has_both = std::ranges::any_of(word, is_number) && !std::ranges::all_of(word, is_number);
    if (has_both) words.push_back(std::move(word));
  }
  return words;
}

bool is_gpu_model(std::string_view gpu, std::string_view model) {
  return gpu.starts_with(model) && (gpu.size() == model.size() || gpu[model.size()] == '-');
}

}  // namespace gradway::config
