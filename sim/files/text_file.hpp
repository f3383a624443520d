// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway {

/// What some editors of Windows put in front of UTF-8.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// A text that was read whole, and its name in messages.
struct TextFile {
  std::string name;
  std::string content;

  /// The file as a whole.
  Where whole() const;
  /// A byte of the content and `length` bytes from there; columns count characters. Searches the content
  /// anew.
  Where at(std::size_t offset, std::size_t length) const;
};

/// @param shown the file's name in messages
/// @throws ConfigError if the file is missing, a folder, a pipe or a device
void check_regular_file(const std::filesystem::path& file, const std::string& shown);

/// @throws ConfigError with one problem
[[noreturn]] void refuse_at(Where where, std::string what, std::string hint);

/// A line of a text, without its ending.
struct TextLine {
  std::string_view text;
  std::size_t offset = 0;  ///< of its first byte in the text
  int number = 0;          ///< counts from 1
};

/// A byte of a line, by its offset in the text, and `length` bytes from there.
Where place_in(const TextLine& line, const std::string& file, std::size_t offset, std::size_t length);

/// Lines that end in \n or \r\n. @param text must outlive the result.
std::vector<TextLine> lines_of(std::string_view text);

/// Reads what people paste and programs print, plain or packed by gzip.
/// @param allowed control characters that may stand in it, besides tabs and the ends of lines
/// @throws ConfigError if the file is missing, unreadable, damaged, empty, no text, or of more than 64 MB
TextFile read_text_file(const std::string& name, std::string_view allowed = "",
                        const std::string& hint_if_empty = "");

}  // namespace gradway
