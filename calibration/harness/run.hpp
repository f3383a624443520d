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

/// A probing program but for its command line: tests put jobs of their own in.
struct Program {
  /// Finds the libraries that jobs load, below the folders of --libraries first; says what it found and
  /// missed
  std::function<std::vector<std::string>(const std::vector<std::filesystem::path>&)> libraries;
  Job facts;  ///< emits the row of the node, which has `gpus`
  std::function<std::vector<Job>(int gpus, int nodes, const Options& options)> jobs;
  std::string version;
  const std::atomic<bool>* interrupted;  ///< set by the handler of signals
  std::ostream* messages;
  std::ostream* results;
  bool terminal = false;  ///< whether messages go to one
};

/// Measures and writes the file of samples, again after each job: whatever happens, what was measured is
/// kept.
/// @return done; wrong_input if there is nothing to measure; incomplete if a probe failed; interrupted
Status run_program(const Program& program, int count, char** arguments);

}  // namespace gradway::probe
