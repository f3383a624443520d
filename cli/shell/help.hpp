// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/commands.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gradway::cli {

struct ExitStatus {
  Status status;
  std::string_view meaning;
};
std::span<const ExitStatus> exit_statuses();

/// The text of `gradway --help`.
std::string program_help();

/// The text of `gradway COMMAND --help`, with lines of at most 100 columns.
std::string command_help(const CLI::App& app, const Command& command);

/// "gradway run SCENARIO [--set KEY=VALUE] ...".
std::string usage_line(const CLI::App& app, const Command& command);

/// "--engine NAME", "--json" or "SCENARIO".
std::string argument_name(const CLI::Option& option);

/// The first line of an argument's description. The others are details for the help and the manual.
std::string summary_of(const CLI::Option& option);

}  // namespace gradway::cli
