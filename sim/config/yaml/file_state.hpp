// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace gradway::config {

/// State of a file by which a change is detected.
struct FileState {
  std::filesystem::path path;
  std::filesystem::file_time_type written{};
  std::uintmax_t size = 0;

  bool operator==(const FileState&) const = default;
};

/// The present state of a file; empty if it does not exist.
FileState state_of(const std::filesystem::path& path);

/// Whether the file was written so recently that another write could keep its time stamp.
bool is_fresh(const FileState& file);

}  // namespace gradway::config
