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
  std::string name;  ///< may include folders
  std::function<void(std::ostream&)> write;
};

/// Whether a path is that of a folder or of something below it. @pre both are without links and ".."
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

/// @throws ConfigError if the path exists and is not a folder
void check_folder(const std::filesystem::path& folder);

/// Removes the temporary files of killed writers from a folder, but not from its subfolders: files with the
/// temporary names of `write_files` that no process has locked.
void remove_abandoned_files(const std::filesystem::path& folder);

/// Writes files into a folder, which is created if needed. Either all files are written completely or none
/// is. Existing files with these names are replaced.
/// @throws ConfigError if a file cannot be written; then nothing new remains
void write_files(const std::filesystem::path& folder, const std::vector<OutputFile>& files);

/// Writes a scenario, and its model into `models/` beside it: both or none.
void write_with_model(const std::filesystem::path& scenario_file, const std::string& scenario,
                      const std::filesystem::path& model_file, const std::string& model);

/// Writes one file completely or not at all, and removes the temporary files of killed writers from its
/// folder.
/// @param replaces an existing file may be replaced
/// @throws ConfigError if the file exists and must not be replaced, or if it cannot be written
void write_file(const std::filesystem::path& file, bool replaces,
                const std::function<void(std::ostream&)>& write);

/// @throws ConfigError if `write_file` would, as far as this is known in advance
void check_file(const std::filesystem::path& file, bool replaces);
/// The same for a YAML file. @param contents kind of files, for messages: "models"
void check_yaml(const std::filesystem::path& file, bool replaces, const std::string& contents);

}  // namespace gradway::cli
