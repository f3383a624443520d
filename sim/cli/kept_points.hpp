// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace gradway::cli {

/// Reports of finished points in a folder, each in a file of its own under a digest of all that decides it: a
/// sweep that was stopped, or one that shares points, need not simulate them again. A file carries a digest
/// of what it holds, so that one that was cut off, edited or put in another's place is not believed. Safe to
/// use from several threads at once.
class KeptPoints {
 public:
  explicit KeptPoints(std::filesystem::path folder);

  /// @param key in hexadecimal digits. @return the report; nothing if there is none, or none to believe
  std::optional<std::string> find(const std::string& key);

  /// @throws ConfigError if it cannot be written
  void keep(const std::string& key, const std::string& report) const;

  std::size_t found() const { return found_; }
  /// Files that were there and could not be believed.
  std::size_t damaged() const { return damaged_; }

 private:
  std::filesystem::path folder_;
  std::atomic<std::size_t> found_ = 0;
  std::atomic<std::size_t> damaged_ = 0;
};

}  // namespace gradway::cli
