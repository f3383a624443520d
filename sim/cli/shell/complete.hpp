// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// What can stand in place of the last of the words behind "gradway" on a command line, one a line, in their
/// order; options and commands with what they do behind a tab. Names are those of the data folders. Nothing
/// where any text or a file is meant.
void write_completions(const CLI::App& program, std::span<const std::string> words,
                       const CommandContext& context);

}  // namespace gradway::cli
