// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace gradway::probe {

/// Exit status, as of gradway's commands.
enum class Status { done = 0, wrong_input = 2, incomplete = 3, interrupted = 130 };

/// Options of the command line.
struct Options {
  std::filesystem::path out = "samples.json.gz";
  bool force = false;
  bool quick = false;
  bool adapt = false;
  std::vector<std::string> only;                 ///< Sections; empty for all.
  std::vector<std::filesystem::path> libraries;  ///< Folders in which to search for NCCL, cuBLAS and cuDNN.
  int gpus = 0;                                  ///< Number of GPUs, from the first; 0 for all.
};

/// Reads the command line. @return the options, or the exit status if the program ends at once (after help,
/// or an error written to `messages`)
std::pair<std::optional<Options>, Status> read_options(int count, char** arguments,
                                                       const std::string& version, std::ostream& results,
                                                       std::ostream& messages);

}  // namespace gradway::probe
