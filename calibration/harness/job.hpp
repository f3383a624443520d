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

/// Some probes that run in processes of their own: what fails or hangs there leaves the rest intact, and what
/// a library reads of its environment only once can differ between jobs.
struct Job {
  std::string section;  ///< what --only calls it
  std::string name;     ///< what it measures, for people
  std::vector<std::pair<std::string, std::string>> environment;
  bool all_ranks = false;             ///< a process for each GPU; else one process for all
  Seconds estimate{};                 ///< of its duration
  std::function<void(Context&)> run;  ///< in each of its processes
};

/// What jobs of a run have in common.
struct Surrounding {
  Context context;             ///< without group and sinks
  std::optional<World> world;  ///< over several nodes, one rank of which this process stands for
  int number = 0;              ///< of the job in the run, from 0: its port of the world
  const std::atomic<bool>* interrupted = nullptr;  ///< when it gets true the job is ended
};

/// Takes what a job says while it runs.
struct Listener {
  std::function<void(const Row&)> row;
  std::function<void(double)> done;  ///< the part that is done
};

/// Runs a job to its end. Remarks and failures come as rows of kind `note` and `failed`.
/// @return true if it finished: no process failed, hung (ten times the estimate, and a minute) or was
/// interrupted
bool run_job(const Job& job, const Surrounding& surrounding, const Listener& listener);

}  // namespace gradway::probe
