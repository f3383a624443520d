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
  std::string name;  ///< may have folders in it
  std::function<void(std::ostream&)> write;
};

/// @throws ConfigError if the folder's name is taken by something else or cannot be made.
void check_folder(const std::filesystem::path& folder);

/// Removes what writers that were killed left in a folder, not in those inside it: files with the names that
/// `write_files` gives until they are complete, which nobody holds any more.
void remove_abandoned_files(const std::filesystem::path& folder);

/// Writes files into a folder, which is made if it is not there: all of them or none, and never half of one.
/// Files of these names that stand there are replaced.
/// @throws ConfigError if that cannot be done; then nothing new is left behind.
void write_files(const std::filesystem::path& folder, const std::vector<OutputFile>& files);

/// Writes one file, whole or not at all, and removes what killed writers left in its folder. @param replaces
/// a file of that name may stand there
/// @throws ConfigError if one stands there and must not be replaced, or if it cannot be written
void write_file(const std::filesystem::path& file, bool replaces,
                const std::function<void(std::ostream&)>& write);

/// @throws ConfigError if `write_file` would, as far as that can be told beforehand
void check_file(const std::filesystem::path& file, bool replaces);
/// The same of a file that must be YAML. @param what such files are, for messages: "models"
void check_yaml(const std::filesystem::path& file, bool replaces, const std::string& what);

}  // namespace gradway::cli
