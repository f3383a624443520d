// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradway {

inline bool contains(std::string_view text, std::string_view fragment) {
  return text.find(fragment) != std::string_view::npos;
}

/// Whether it is a letter of ASCII, in every locale.
inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Whether a text consists of digits, at least one.
bool is_digits(std::string_view text);

std::string lower_case(std::string_view text);

/// The text without white space at its ends.
std::string_view trimmed(std::string_view text);

/// Words between blanks and tabs.
std::vector<std::string_view> words_in(std::string_view text);

/// The whole number of at least 0 that begins a text; empty if none does.
std::optional<int> leading_number(std::string_view text);

/// The text after a fragment; empty if the fragment is missing.
std::string_view after(std::string_view text, std::string_view fragment);

/// The word after a fragment and white space; empty if the fragment is missing.
std::string_view word_after(std::string_view text, std::string_view fragment);

/// A word of a command to paste into a shell, quoted if it has characters that a shell would interpret.
/// Control characters and bytes that are not valid UTF-8 are escaped as in bash, zsh and ksh: $'a\x1b'.
std::string shell_word(std::string_view word);

}  // namespace gradway
