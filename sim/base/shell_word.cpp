// SPDX-License-Identifier: Apache-2.0
#include "sim/base/shell_word.hpp"

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace gradway {

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
