// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "cli/shell/failure.hpp"
#include "sim/config/config.hpp"

namespace gradway::cli {

/// Two states of a program, and the hardware on which they are compared.
struct ProgramsRequest {
  std::string before;  ///< a capture, another model, or a scenario: a file or a name
  std::string after;
  std::vector<std::string> platforms{};  ///< empty: those of the scenarios
  std::vector<std::string> gpus{};       ///< numbers; empty: those of the scenarios or captures
  std::vector<Override> set{};
  std::string engine;
  std::optional<double> limit{};  ///< by which the step may become longer; none: by any
  bool json = false;
  bool markdown = false;
};

/// Compares the steps of both on each platform.
/// @return limit_passed if the step becomes longer by more than the limit, or no longer fits with a limit
Status compare_programs(const ProgramsRequest& request, const CommandContext& context);

}  // namespace gradway::cli
