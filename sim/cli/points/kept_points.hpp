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

/// A JSON object that was written as text, made to begin with a digest of itself and of `key`: what was cut
/// off, edited or put in another's place is not taken for it.
std::string sealed(const std::string& key, std::string_view object);
/// What was sealed so; nothing if this is none.
std::optional<std::string> unsealed(const std::string& key, const std::string& text);

/// A finished point: its result, and the text of the report that it was read from.
struct KeptPoint {
  report::PointResult result;
  std::string report;
};

/// Reports of finished points in a folder, each in a file of its own under a digest of all that decides it: a
/// sweep that was stopped, or one that shares points, need not simulate them again. Files are
/// sealed. Safe to use from several threads at once.
class KeptPoints {
 public:
  explicit KeptPoints(std::filesystem::path folder);

  /// @param key in hexadecimal digits. @return empty if there is no report, or one that was changed
  std::optional<KeptPoint> find(const std::string& key);

  /// @throws ConfigError if it cannot be written
  void keep(const std::string& key, const std::string& report) const;

  const std::filesystem::path& folder() const { return folder_; }
  std::size_t found() const { return found_; }
  /// Files that were there and could not be believed.
  std::size_t damaged() const { return damaged_; }

 private:
  std::filesystem::path folder_;
  std::atomic<std::size_t> found_ = 0;
  std::atomic<std::size_t> damaged_ = 0;
};

}  // namespace gradway::cli
