// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/base/progress.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/engine/timeline_cache.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/steps.hpp"

namespace gradway {

/// A simulation that reached its steady state.
struct SteadyRun {
  Workload workload;  ///< with the number of simulated steps
  std::string engine;
  Lowered lowered;
  Timeline timeline;
  bool is_from_cache = false;  ///< the timeline
  StepWindow window;           ///< reported steps
};

/// Lowers and runs a workload, doubling the number of steps until they repeat, or cover
/// whole periods of a neighbour's traffic. A whole epoch runs once. Two steps are tried first if they may do
/// (see `Workload::may_repeat_early`).
/// @param engine "auto" or a name from engines()
/// @param cache of timelines, to which `keep` gives this run back; null: none
/// @throws SimulationError if not even their mean settles, or if the steps need more memory than there is
SteadyRun run_to_steady_state(Workload workload, const Platform& platform, std::string_view engine,
                              const std::function<Lowered(const Workload&)>& lowered,
                              const ProgressCallback& on_progress = {}, TimelineCache* cache = nullptr);

/// Moves graph and timeline of a run that is no longer needed into the cache. No effect without a cache.
/// @param platform as when it ran
void keep(TimelineCache* cache, const Platform& platform, SteadyRun& run);

}  // namespace gradway
