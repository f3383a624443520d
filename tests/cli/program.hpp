// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gradway::testing {

/// How a run of the real program ended.
struct Outcome {
  int status = -1;     ///< exit status; 128 + signal if one ended it
  std::string output;  ///< standard output
  std::string errors;  ///< standard error
};

/// What the program finds around it.
struct World {
  std::filesystem::path folder = GRADWAY_SOURCE_DIR;  ///< the working folder
  std::string gradway_path{};                         ///< GRADWAY_PATH; empty: not set
  std::string output_to{};                            ///< standard output goes to this file instead
  bool output_closed = false;                         ///< there is no standard output
  bool output_broken = false;                         ///< standard output is a pipe without a reader
  std::optional<std::size_t> most_memory{};           ///< bytes of address space
  std::optional<std::size_t> largest_file{};          ///< bytes that it may write into one
  std::vector<std::string> environment{};             ///< more variables, each "NAME=VALUE"
  std::string program = GRADWAY_PROGRAM;
  std::optional<unsigned short> terminal{};  ///< standard output is a terminal of so many columns
  bool messages_on_terminal = false;         ///< and standard error is the same one
  bool no_color = false;                     ///< NO_COLOR is set
};

/// Runs gradway as a user would, without a terminal unless one is asked for.
Outcome run_gradway(const std::vector<std::string>& arguments, const World& world = {});

/// An empty folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file, with the folders it needs.
  void write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::filesystem::path& file);

}  // namespace gradway::testing
