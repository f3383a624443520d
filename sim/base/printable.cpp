// SPDX-License-Identifier: Apache-2.0
#include "sim/base/printable.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {
namespace {

/// The first character of the text. @pre a valid character of `length` bytes
char32_t decoded(std::string_view text, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length == 1) return byte(0);
  char32_t code = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6U) | (byte(i) & 0x3FU);
  return code;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Fast path for most text: printable ASCII.
bool is_plain(char c) {
  return c >= 0x20 && c < 0x7F;
}

}  // namespace

std::size_t first_control(std::string_view text, std::string_view allowed) {
  for (std::size_t offset = 0; offset < text.size();) {
    if (is_plain(text[offset])) {
      ++offset;
      continue;
    }
    const auto length = std::max<std::size_t>(1, character_length(text.substr(offset)));
    const bool is_allowed = length == 1 && allowed.find(text[offset]) != std::string_view::npos;
    const bool is_byte = length == 1 && static_cast<unsigned char>(text[offset]) >= 0x80;  // not UTF-8
    if (!is_allowed && !is_byte && is_control(decoded(text.substr(offset), length))) return offset;
    offset += length;
  }
  return std::string_view::npos;
}

std::string code_point(std::string_view text, std::size_t offset) {
  const auto tail = text.substr(offset);
  return fmt::format("U+{:04X}", static_cast<unsigned>(decoded(tail, character_length(tail))));
}

std::string printable(std::string_view text, std::string_view allowed) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const auto tail = text.substr(offset);
    const auto length = character_length(tail);
    const bool is_allowed = length == 1 && allowed.find(text[offset]) != std::string_view::npos;
    if (length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[offset]));
    } else if (const auto code = decoded(tail, length); is_allowed || !is_control(code)) {
      result += tail.substr(0, length);
    } else {
      result += length == 1 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code))
                            : fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    }
    offset += std::max<std::size_t>(1, length);
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::size_t room_for_remark = 64;  // makes the function idempotent
  if (text.size() <= most + room_for_remark) return std::string{text};
  auto head = most * 2 / 3;  // the beginning of a message is worth more than its end
  auto tail = text.size() - (most - head);
  while (head > 0 && !starts_character(text[head])) --head;
  while (tail < text.size() && !starts_character(text[tail])) ++tail;
  return fmt::format("{} ... ({} more characters) ... {}", text.substr(0, head),
                     characters(text.substr(head, tail - head)), text.substr(tail));
}

std::string shown_line(std::string_view line) {
  constexpr std::size_t longest = 300;
  const bool can_be_shown = line.size() <= longest && first_control(line, "\t") == std::string_view::npos &&
                            first_bad_byte(line) == std::string_view::npos;
  return can_be_shown ? std::string{line} : "";
}

}  // namespace gradway
