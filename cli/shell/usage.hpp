// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands.hpp"

namespace gradway::cli {

/// Parses the command line. @return the command, or an action that prints a help text
/// @throws ConfigError for unknown commands, options and arguments, with the nearest known name
Action parse_command_line(int argc, const char* const* argv);

}  // namespace gradway::cli
