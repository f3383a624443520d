// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/cli/status.hpp"
#include "sim/cli/surroundings.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Why a point gave nothing. Done: it gave something.
struct Failure {
  Status status = Status::done;
  std::string text;                  ///< as it would be written alone
  std::vector<std::string> reasons;  ///< what is wrong, one sentence each, without places
};

/// Runs points of a sweep or a comparison, several at once, with a line of progress. One that throws does not
/// stop the others.
/// @param jobs at once; 0: as many as there are cores
/// @return beside the points
std::vector<Failure> run_points(const Surroundings& around, std::string what, std::size_t count, int jobs,
                                const std::function<void(std::size_t)>& run);

/// That of the first point that failed; a bug comes before all others.
Status status_of(const std::vector<Failure>& failures);

/// Writes why points failed, the same words only once.
void tell_each_once(const std::vector<Failure>& failures, std::ostream& messages);

/// Adds `--jobs N`.
void add_jobs(CLI::App& app, int& jobs);

}  // namespace gradway::cli
