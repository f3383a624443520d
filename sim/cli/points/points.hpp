// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/failure.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Runs points of a sweep or a comparison, several at once, with a line of progress. One that throws does not
/// stop the others.
/// @param jobs at once; 0: as many as there are cores
/// @return beside the points
std::vector<Failure> run_points(const CommandContext& context, std::string what, std::size_t count, int jobs,
                                const std::function<void(std::size_t)>& run);

/// That of the first point that failed; a bug comes before all others.
Status status_of(const std::vector<Failure>& failures);

/// @throws ConfigError with each problem once, if wrong input is why points failed, and nothing else
void raise_wrong_input(const std::vector<Failure>& failures);

/// Writes why points failed, the same words only once.
void tell_each_once(const std::vector<Failure>& failures, std::ostream& messages);

/// Adds `--jobs N`.
void add_jobs(CLI::App& app, int& jobs);

}  // namespace gradway::cli
