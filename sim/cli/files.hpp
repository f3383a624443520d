// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace gradway::cli {

/// A file to write into a folder.
struct OutputFile {
  std::string name;
  std::function<void(std::ostream&)> write;
};

/// @throws ConfigError if the folder's name is taken by something else or cannot be made.
void check_folder(const std::filesystem::path& folder);

/// Writes files into a folder, which is made if it is not there: all of them or none, and never half of one.
/// Files of these names that stand there are replaced.
/// @throws ConfigError if that cannot be done; then nothing new is left behind.
void write_files(const std::filesystem::path& folder, const std::vector<OutputFile>& files);

}  // namespace gradway::cli
