// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

/// Throughput of a DataLoader without training: one run of the script in docs/data-path.md.
struct LoaderRun {
  int workers = 0;
  int batch = 1;                         ///< Samples per batch.
  int batches = 1;                       ///< Batches that were timed, after the first ones.
  Seconds seconds{};                     ///< Total time of these batches.
  double samples = 1;                    ///< Samples in the dataset.
  std::optional<Bytes> sample_size{};    ///< Mean stored size.
  std::optional<int> threads{};          ///< Hardware threads of the node, two per core.
  std::optional<Seconds> first_batch{};  ///< From the start of an epoch, including the start of workers.

  double samples_per_s() const { return static_cast<double>(batch) * batches / seconds.value(); }
};

/// Reads runs, one JSON map per line. Other lines are ignored, as other programs may print them.
/// @throws ConfigError with every problem at its place: no run, missing or unknown keys, invalid values, runs
/// of different datasets, two runs with the same number of workers
std::vector<LoaderRun> read_loader_log(const TextFile& log);

/// Costs of a loader, fitted to runs with several numbers of workers: throughput is the number of workers
/// times the rate of one, limited by the node's cores and by storage (or whatever else all workers share).
struct LoaderCosts {
  Seconds time_per_sample{};  ///< Time of one core per sample: read, decode, transform and collate.
  double time_error = 0;      ///< Relative standard error of it; 0 with a single run.
  /// Samples per second that no number of workers exceeds; empty if not reached.
  std::optional<double> limit{};
  double limit_error = 0;  ///< Relative standard error of it; 0 with a single run.
  /// Time to start a worker, one after the other, at the start of an epoch.
  std::optional<Seconds> worker_start{};
  Seconds worker_start_error{};  ///< Root mean square error of the times of first batches.
  std::vector<double> fitted;    ///< Fitted samples per second, by run.
  std::vector<double> errors;    ///< Relative error of the fit, by run.

  double mean_error() const;  ///< Mean of the absolute errors.
};

/// Fits by least squares of logarithms, so that every run has the same weight. The fit decides whether, and
/// from which number of workers on, something other than workers is the limit. Runs without workers are not
/// fitted but compared: the training process does the work of one worker.
/// @param runs by number of workers @pre one of them has workers
LoaderCosts fit_loader(const std::vector<LoaderRun>& runs);

/// The dataset file, with the runs it was fitted to and their errors, and with keys for a scenario for what a
/// dataset does not contain. @param name of the log, as given by the user
std::string loader_yaml(const std::vector<LoaderRun>& runs, const LoaderCosts& costs,
                        const std::string& name);

}  // namespace gradway
