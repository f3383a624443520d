// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"

namespace gradway::cli {

struct ExportArguments {
  std::string format;
  std::string scenario;
  std::vector<std::string> set;
  std::string out;
  int ranks = 8;  ///< most ranks to write
  bool chose_ranks = false;
};

/// Writes a PyTorch program that runs the scenario, and scripts that start it and check the prediction.
void export_experiment(const ExportArguments& arguments, const CommandContext& context);

}  // namespace gradway::cli
