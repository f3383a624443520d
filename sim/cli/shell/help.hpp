// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/cli/commands.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gradway::cli {

/// A way to end, and what it means.
struct ExitStatus {
  Status status;
  std::string_view meaning;
};
std::span<const ExitStatus> exit_statuses();

/// What `gradway --help` says.
std::string program_help();

/// What `gradway COMMAND --help` says, in the same look.
std::string command_help(const CLI::App& app, const Command& command);

/// "gradway run SCENARIO [--set KEY=VALUE] ...".
std::string usage_line(const CLI::App& app, const Command& command);

/// "--engine NAME", "--json" or "SCENARIO".
std::string argument_name(const CLI::Option& option);

}  // namespace gradway::cli
