// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sim/report/points/point_result.hpp"

namespace gradway::cli {

/// The text of a JSON object, with a digest of itself and of `key` added as its first member. The digest
/// reveals files that were truncated, edited or renamed.
std::string with_digest(const std::string& key, std::string_view object);
/// The object without its digest. None if the digest is missing or wrong.
std::optional<std::string> checked_content(const std::string& key, const std::string& text);

/// A finished point: its result, and the text of its report.
struct CachedPoint {
  report::PointResult result;
  std::string report;
};

/// Reports of finished points in a folder. The name of each file is a digest of everything that its report
/// depends on, so that a sweep that was stopped, or that shares points with another, does not simulate them
/// again. Thread-safe.
class PointCache {
 public:
  explicit PointCache(std::filesystem::path folder);

  /// @param key in hexadecimal digits @return none if there is no report, or if its digest is wrong
  std::optional<CachedPoint> find(const std::string& key);

  /// @throws ConfigError if the file cannot be written
  void store(const std::string& key, const std::string& report) const;

  const std::filesystem::path& folder() const { return folder_; }
  std::size_t found() const { return found_; }
  /// Number of files with a wrong digest.
  std::size_t damaged() const { return damaged_; }

 private:
  std::filesystem::path folder_;
  std::atomic<std::size_t> found_ = 0;
  std::atomic<std::size_t> damaged_ = 0;
};

}  // namespace gradway::cli
