// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cli/commands.hpp"

namespace gradway::cli {

/// Understands the command line: a command, or a help text as the action.
/// @throws ConfigError for what it does not understand, with the nearest that it knows.
Action parse_command_line(int argc, const char* const* argv);

}  // namespace gradway::cli
