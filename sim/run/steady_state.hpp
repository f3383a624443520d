// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/base/progress.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/steps.hpp"

namespace gradway {

/// A simulation that was long enough.
struct SteadyRun {
  Workload workload;  ///< with the steps that were simulated
  std::string engine;
  Lowered lowered;
  Timeline timeline;
  StepWindow window;  ///< of the steps that count
};

/// Lowers and runs a workload, with twice as many steps each time, until its steps repeat; of a whole epoch
/// just its steps.
/// @param engine "auto" or a name from engines()
/// @throws SimulationError if they do not even settle on average
SteadyRun run_to_steady_state(Workload workload, const Platform& platform, std::string_view engine,
                              const std::function<Lowered(const Workload&)>& lowered,
                              const ProgressCallback& on_progress = {});

}  // namespace gradway
