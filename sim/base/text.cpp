// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace gradway {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view white_space = " \t\n\v\f\r";

}  // namespace

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  return text.substr(0, text.find_last_not_of(white_space) + 1);  // npos + 1 is 0.
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find_first_of(blanks)));
    text.remove_prefix(words.back().size());
  }
}

std::optional<int> leading_number(std::string_view text) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} && value >= 0 ? std::optional{value} : std::nullopt;
}

std::string_view after(std::string_view text, std::string_view fragment) {
  const auto position = text.find(fragment);
  return position == std::string_view::npos ? std::string_view{} : text.substr(position + fragment.size());
}

std::string_view word_after(std::string_view text, std::string_view fragment) {
  const auto remainder = trimmed(after(text, fragment));
  return remainder.substr(0, remainder.find_first_of(white_space));
}

std::string shell_word(std::string_view word) {
  constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,=/:+%@";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string{word};
  const bool can_be_shown = printable(word) == word;
  std::string text = can_be_shown ? "'" : "$'";
  for (const auto c : word) {
    if (can_be_shown ? c != '\'' : c >= 0x20 && c < 0x7F && c != '\'' && c != '\\') {
      text += c;
    } else {
      text += can_be_shown ? "'\\''" : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + "'";
}

}  // namespace gradway
