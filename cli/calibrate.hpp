// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "readers/fit/node_facts.hpp"
#include "readers/samples/samples.hpp"

namespace gradway::cli {

/// Reads files of samples, and prints the probe's remarks and unused rows to messages.
/// @throws ConfigError with the errors of all files
Samples read_samples_with_remarks(const std::vector<std::string>& files, const CommandContext& context);

/// Facts of the node from its platform; empty without a platform.
NodeFacts facts_of(const std::string& platform, const Samples& samples, const CommandContext& context);

}  // namespace gradway::cli
