// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway {

/// Written by some editors in front of UTF-8.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// A text in memory, with its name in messages.
struct TextFile {
  std::string name;
  std::string content;

  /// The whole file.
  Where whole() const;
  /// Place of `length` bytes of the content; columns count characters. Counts the lines in each call.
  Where at(std::size_t offset, std::size_t length) const;
  /// @throws ConfigError at the first byte that is not UTF-8
  void check_encoding() const;
};

/// @param shown the file's name in messages
/// @throws ConfigError if the file is missing, a folder, a pipe or a device
void check_regular_file(const std::filesystem::path& file, const std::string& shown);

/// A line of a text, without its ending.
struct TextLine {
  std::string_view text;
  std::size_t offset = 0;  ///< Index of its first byte in the text.
  int number = 0;          ///< From 1.
};

/// Place of `length` bytes of a line; `offset` is that in the text.
Where place_in(const TextLine& line, const std::string& file, std::size_t offset, std::size_t length);

/// Lines that end in a line feed, with or without a carriage return before it.
/// @param text must outlive the result
std::vector<TextLine> lines_of(std::string_view text);

/// Reads a text file, plain or compressed by gzip.
/// @param allowed control characters that it may contain besides tabs and line ends
/// @throws ConfigError if the file is missing, unreadable, damaged, empty, not a text, or larger than 64 MB
TextFile read_text_file(const std::string& name, std::string_view allowed = "",
                        const std::string& hint_if_empty = "");

}  // namespace gradway
