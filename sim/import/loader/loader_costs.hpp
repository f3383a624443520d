// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/loader/loader_log.hpp"

namespace gradway {

/// What runs with several numbers of workers tell of a loader: workers times the rate of one, as far as the
/// node's cores go, until storage (or what else all share) is full.
struct LoaderCosts {
  Seconds each{};         ///< of one core a sample: to read, decode, transform and collate it
  double each_error = 0;  ///< standard error of `each`, of itself; 0 where one run tells it
  std::optional<double>
      most{};             ///< samples a second that no number of workers exceeded; empty: none was seen
  double most_error = 0;  ///< standard error of `most`, of itself; 0 where one run tells it
  std::optional<Seconds> start{};  ///< of a worker, each behind the other, at an epoch's start
  Seconds start_error{};           ///< root mean square of what first batches took otherwise
  std::vector<double> fitted;      ///< samples a second, run by run
  std::vector<double> errors;      ///< of these, over what was measured

  double mean_error() const;  ///< of their sizes
};

/// Least squares of the logarithms: a run counts as its neighbours do, however fast it was. Whether, and from
/// which number of workers on, something else than workers is the limit is what fits best. Runs without
/// workers are fitted by nothing, but compared: the training process does the work of one.
/// @param runs by number of workers @pre one of them has workers
LoaderCosts fit_loader(const std::vector<LoaderRun>& runs);

/// The dataset's file, with the rows that it was fitted to and how well, and what to write into a scenario
/// for what a dataset does not hold. @param name of the log, as the user wrote it
std::string loader_yaml(const std::vector<LoaderRun>& runs, const LoaderCosts& costs,
                        const std::string& name);

}  // namespace gradway
