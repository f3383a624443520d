// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/digest.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/warning.hpp"
#include "sim/config/yaml/disk.hpp"

namespace gradway::config {

/// Collects the problems of all files that are read, which are thrown as one ConfigError at the end, together
/// with notes, a digest of every text, and the files themselves.
class Problems {
 public:
  void add(Where where, std::string message, std::string hint = "", std::vector<Note> notes = {}) {
    list_.push_back({std::move(where), std::move(message), std::move(notes), std::move(hint)});
  }
  void add(const ConfigError& error);
  /// Adds everything that another instance has collected.
  void add(const Problems& added);
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }

  /// The result of `read`, or an empty value if it throws ConfigError, whose problems are added.
  template <class Read>
  auto attempt(const Read& read) -> std::invoke_result_t<Read> {
    try {
      return read();
    } catch (const ConfigError& error) {
      add(error);
    }
    return std::invoke_result_t<Read>();
  }

  /// Adds a warning, once.
  void warn(Warning warning);
  const std::vector<Warning>& warnings() const { return warnings_; }

  void add_to_digest(std::string_view text);
  Digest digest() const;

  void add_file(FileState file) { files_.push_back(std::move(file)); }
  const std::vector<FileState>& files() const { return files_; }

  /// Throws the problems, if there are any, sorted by file in the order of reading and by line.
  void raise() const;

 private:
  std::vector<Problem> list_;
  std::vector<Warning> warnings_;
  std::vector<Digest> digests_;  ///< one for each text
  std::vector<FileState> files_;
};

/// Message for a word that is not among the allowed ones: "invalid precision 'X'".
/// @param thing with its article: "a precision"
std::string invalid_word(std::string_view thing, std::string_view word);

/// Throws one problem.
[[noreturn]] void fail(const Where& where, std::string message, std::string hint = "");
[[noreturn]] void fail(const Where& where, std::string message, std::vector<Note> notes, std::string hint);

}  // namespace gradway::config
