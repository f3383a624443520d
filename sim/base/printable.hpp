// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gradway {

// Control characters steer a terminal instead of being shown: they can hide text, set the window's title, or
// turn the order of what stands beside them. Files that have them are refused; what else can hold them, names
// of files and words of the command line, is escaped before anyone sees it.

/// Offset of the first control character, or npos: those below U+0020, U+007F to U+009F, and the marks that
/// set the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
/// @param allowed control characters of one byte that may stand there
std::size_t first_control(std::string_view text, std::string_view allowed = "");

/// "U+001B": the character at the offset. @pre UTF-8 begins there
std::string code_point(std::string_view text, std::size_t at);

/// The text with each control character escaped: "\x1b" for those of one byte, "\u202e" for others; also
/// bytes that are no UTF-8, as "\xff".
std::string printable(std::string_view text, std::string_view allowed = "");

/// A text of at most `most` bytes or little more: of a longer one both ends, and how much is left out.
std::string shortened(std::string_view text, std::size_t most);

/// A line as a message shows it with a caret below: empty if it is too long for that, or has characters that
/// would move the caret.
std::string shown_line(std::string_view line);

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
