// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway::config {

/// A file as a whole.
Where in_file(const std::string& shown);

/// Text that a user wrote, cut into lines so that messages can show them.
class SourceText {
 public:
  /// @param shown the file's name in messages. @throws ConfigError if the text is no clean UTF-8, or has
  /// control characters or tabs as indent.
  SourceText(std::string shown, std::string content);

  /// A value that has no lines of its own: every place in it is `where`. @throws ConfigError if it has
  /// control characters.
  SourceText(const Where& where, std::string content);

  const std::string& content() const { return content_; }
  Where whole() const;

  /// The place of `bytes` bytes from a zero-based line and byte column, in characters counted from 1. Counts
  /// on from the place that was asked for last, as parsers go forward: a line of megabytes takes no longer
  /// than many short ones. Not for several threads at once.
  Where place(int line, int byte_column, int bytes) const;

  /// The line without its ending; empty if there is none.
  const std::string& line(int zero_based) const;
  int line_count() const { return static_cast<int>(lines_.size()); }

 private:
  /// How many characters there are before a byte of a line.
  struct Counted {
    int line = -1;
    std::size_t byte = 0;
    std::size_t characters = 0;
  };

  std::string shown_;
  std::string content_;
  std::vector<std::string> lines_;
  std::optional<Where> fixed_;
  mutable Counted last_;
};

/// Reads a file. @param shown its name in messages.
/// @throws ConfigError if it is missing, a folder, unreadable, too large, empty, binary, no UTF-8 or has
/// control characters or tabs as indent.
SourceText read_source(const std::filesystem::path& path, const std::string& shown);

}  // namespace gradway::config
