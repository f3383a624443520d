// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "calibration/harness/job.hpp"
#include "calibration/harness/options.hpp"

namespace gradway::probe {

/// A probing program without its command line; tests insert their own jobs.
struct Program {
  /// Finds the libraries that jobs load, first below the folders of --libraries; returns messages on what was
  /// found and what is missing.
  std::function<std::vector<std::string>(const std::vector<std::filesystem::path>&)> libraries;
  Job facts;  ///< Emits the row of the node, which contains `gpus`.
  std::function<std::vector<Job>(int gpus, int nodes, const Options& options)> jobs;
  std::string version;
  const std::atomic<bool>* interrupted;  ///< Set by the signal handler.
  std::ostream* messages;
  std::ostream* results;
  bool terminal = false;  ///< Whether messages go to a terminal.
};

/// Measures, and writes the file of samples after each job, so that measurements are kept whatever happens.
/// @return done; wrong_input if there is nothing to measure; incomplete if a probe failed; interrupted
Status run_program(const Program& program, int count, char** arguments);

}  // namespace gradway::probe
