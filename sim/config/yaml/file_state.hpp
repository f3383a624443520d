// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace gradway::config {

/// What tells a file from what it was before.
struct FileState {
  std::filesystem::path path;
  std::filesystem::file_time_type written{};
  std::uintmax_t size = 0;

  bool operator==(const FileState&) const = default;
};

/// That of a file now; of one that is not there an empty one.
FileState state_of(const std::filesystem::path& path);

/// It was written so short a time ago that it could be written again and keep its time.
bool is_fresh(const FileState& file);

}  // namespace gradway::config
