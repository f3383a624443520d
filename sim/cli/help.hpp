// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/cli/commands.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gradway::cli {

/// What `gradway --help` says.
std::string program_help();

/// What `gradway COMMAND --help` says, in the same look.
std::string command_help(const CLI::App& app, const Command& command);

/// "--engine NAME", "--json" or "SCENARIO".
std::string argument_name(const CLI::Option& option);

}  // namespace gradway::cli
