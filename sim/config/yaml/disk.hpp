// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// All that reading scenarios needs of a disk. A program has one (disk.cpp); in a browser the page hands over
/// the files (wasm/given_files.cpp).
namespace gradway::config {

/// Whether something other than a folder is there.
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
/// Whether both are the same file, such as by a link.
bool is_same_file(const std::filesystem::path& first, const std::filesystem::path& second);

/// All files in a folder and, to a depth, in folders within, in any order. Unreadable folders are skipped.
/// @param most_depth 0: no folders within
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, int most_depth = 8);

/// Content of a file, or a longer part of it than `most` bytes. Empty if it cannot be read.
std::optional<std::string> read_bytes(const std::filesystem::path& path, std::size_t most);

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
