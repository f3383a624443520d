// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gradway {

// Control characters can make a terminal hide text, set the title of its window or reverse the order of
// characters. Files that contain them are refused. File names and words of the command line are escaped
// before they are printed.

/// Offset of the first control character, or npos. Control characters are those below U+0020, U+007F to
/// U+009F, and bidirectional formatting (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
/// @param allowed control characters of one byte that are ignored
std::size_t first_control(std::string_view text, std::string_view allowed = "");

/// The character at an offset in the form "U+001B". @pre valid UTF-8 begins there
std::string code_point(std::string_view text, std::size_t offset);

/// Escapes control characters ("\x1b" for one byte, "\u202e" for more) and bytes that are not valid UTF-8
/// ("\xff").
std::string printable(std::string_view text, std::string_view allowed = "");

/// Shortens a text to about `most` bytes: keeps both ends and writes how many characters were left out.
std::string shortened(std::string_view text, std::size_t most);

/// The line if a message can show it above a caret. Empty if it is too long or has characters that would
/// misplace the caret.
std::string shown_line(std::string_view line);

/// Whether a byte of UTF-8 text is the first byte of a character.
constexpr bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

/// Number of characters of UTF-8 text.
std::size_t characters(std::string_view text);

/// Length in bytes of the first character; 0 if the text does not begin with valid UTF-8 (RFC 3629).
std::size_t character_length(std::string_view text);

/// Offset of the first byte that is not valid UTF-8, or npos.
std::size_t first_bad_byte(std::string_view text);

}  // namespace gradway
