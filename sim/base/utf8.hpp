// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace gradway {

/// Whether a byte of UTF-8 is the first of its character.
constexpr bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

/// How many characters begin in the text.
std::size_t characters(std::string_view text);

/// How many bytes the character has that the text begins with; 0 if it begins with none (RFC 3629).
std::size_t character_length(std::string_view text);

/// Offset of the first byte that is no UTF-8, or npos.
std::size_t first_bad_byte(std::string_view text);

}  // namespace gradway
