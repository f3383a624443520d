// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "cli/shell/failure.hpp"
#include "cli/shell/progress.hpp"
#include "sim/study/compare/varied_scenario.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Runs points of a sweep or a comparison in parallel and shows their progress. An exception of one point
/// does not stop the others.
/// @param jobs points to run at a time; 0: one per hardware thread
/// @return one failure per point
std::vector<Failure> run_points(
    const CommandContext& context, std::string noun, std::size_t count, int jobs,
    const std::function<void(std::size_t)>& run,
    Progress::WithoutTerminal without_terminal = Progress::WithoutTerminal::silent);

/// Status of the first point that failed; a bug takes precedence.
Status status_of(const std::vector<Failure>& failures);

/// Whether any point has a result. If none has, writes the message of each failure once.
/// @throws ConfigError with each problem once, if all points failed due to wrong input
bool has_results(const std::vector<Failure>& failures, const CommandContext& context);

/// @throws ConfigError with each problem once, if all failures are due to wrong input
void raise_wrong_input(const std::vector<Failure>& failures);

/// Writes the messages of all failures, each text once.
void write_distinct_failures(const std::vector<Failure>& failures, std::ostream& messages);

/// Adds `--jobs N`. @param work says what of which N run at a time
void add_jobs(CLI::App& app, int& jobs, const std::string& work = "simulations to run");

}  // namespace gradway::cli
