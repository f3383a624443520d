// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibration/harness/context.hpp"
#include "calibration/harness/world.hpp"

namespace gradway::probe {

/// Probes that run in separate processes: failures and hangs are isolated, and environment variables that a
/// library reads only once can differ between jobs.
struct Job {
  std::string section;  ///< Name for --only.
  std::string name;     ///< What it measures, for people.
  std::vector<std::pair<std::string, std::string>> environment;
  bool all_ranks = false;             ///< One process per GPU; otherwise one process for all.
  Seconds estimate{};                 ///< Estimated duration.
  std::function<void(Context&)> run;  ///< Runs in each of its processes.
};

/// Settings shared by the jobs of a run.
struct RunSettings {
  Context context;             ///< Without group and callbacks.
  std::optional<World> world;  ///< Set for a run over several nodes, in which this process is one rank.
  int number = 0;              ///< Number of the job in the run, from 0; selects its port.
  const std::atomic<bool>* interrupted = nullptr;  ///< The job is ended when this becomes true.
};

/// Receives the output of a job while it runs.
struct Listener {
  std::function<void(const Row&)> row;
  std::function<void(double)> done;  ///< Completed share.
};

/// Runs a job to its end. Remarks and failures are rows of kind `note` and `failed`.
/// @return true if it finished: no process failed, hung (ten times the estimate plus a minute) or was
/// interrupted
bool run_job(const Job& job, const RunSettings& run_settings, const Listener& listener);

}  // namespace gradway::probe
