// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway::config {

/// The place of a whole file.
Where in_file(const std::string& shown);

/// Text of a user, split into lines for messages.
class SourceText {
 public:
  /// @param shown the file's name in messages. @throws ConfigError for invalid UTF-8, control characters, and
  /// tabs as indentation.
  SourceText(std::string shown, std::string content);

  /// A value without its own lines: every place in it is `where`. @throws ConfigError for control characters.
  SourceText(const Where& where, std::string content);

  const std::string& content() const { return content_; }
  Where whole() const;

  /// The place of `bytes` bytes from a zero-based line and byte column, in characters counted from 1.
  /// Continues from the last place, because parsers move forward: long lines take linear time. Not
  /// thread-safe.
  Where place(int line, int byte_column, int bytes) const;

  /// The line without its ending; empty if it does not exist.
  const std::string& line(int zero_based) const;
  int line_count() const { return static_cast<int>(lines_.size()); }

 private:
  /// Number of characters before a byte of a line.
  struct CharacterPosition {
    int line = -1;
    std::size_t byte = 0;
    std::size_t characters = 0;
  };

  std::string shown_;
  std::string content_;
  std::vector<std::string> lines_;
  std::optional<Where> fixed_;
  mutable CharacterPosition last_;
};

/// Reads a file. @param shown its name in messages.
/// @throws ConfigError if it is missing, a folder, unreadable, too large or binary, and for invalid UTF-8,
/// control characters and tabs as indentation.
SourceText read_source(const std::filesystem::path& path, const std::string& shown);

}  // namespace gradway::config
