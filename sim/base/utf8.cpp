// SPDX-License-Identifier: Apache-2.0
#include "sim/base/printable.hpp"

#include <algorithm>

namespace gradway {
namespace {

/// Length in bytes of a character with this first byte; 0 if the byte cannot begin a character.
std::size_t announced_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

}  // namespace

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::size_t character_length(std::string_view text) {
  const auto length = text.empty() ? 0 : announced_length(text.front());
  const auto tail = text.substr(length == 0 ? 0 : 1, length == 0 ? 0 : length - 1);
  return tail.size() + 1 == length && std::ranges::none_of(tail, starts_character) ? length : 0;
}

std::size_t first_bad_byte(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const auto length = character_length(text.substr(offset));
    if (length == 0) return offset;
    offset += length;
  }
  return std::string_view::npos;
}

}  // namespace gradway
