// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace gradway::probe {

/// How a program ends, as gradway's own commands do.
enum class Status { done = 0, wrong_input = 2, incomplete = 3, interrupted = 130 };

/// What the user asked for.
struct Options {
  std::filesystem::path out = "samples.json.gz";
  bool force = false;
  bool quick = false;
  bool adapt = false;
  std::vector<std::string> only;                 ///< sections; empty: all
  std::vector<std::filesystem::path> libraries;  ///< folders to look below for NCCL, cuBLAS and cuDNN
  int gpus = 0;                                  ///< the first ones; 0: all
};

/// Reads the command line. @return what to do, or how the program ends at once (help was shown, or the line
/// is wrong, which `messages` then says)
std::pair<std::optional<Options>, Status> read_options(int count, char** arguments,
                                                       const std::string& version, std::ostream& results,
                                                       std::ostream& messages);

}  // namespace gradway::probe
