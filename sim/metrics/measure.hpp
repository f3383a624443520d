// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/metrics/steps.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What the ranks of each program did in a step of the window, on average.
std::vector<MeasuredProgram> measure_programs(const Workload& workload, const Lowered& lowered,
                                              const Timeline& timeline, const StepWindow& window);

/// By program: of the time of the window in which none of its kernels runs, the share that lies within
/// `at_most` of the beginning of its stretch; 1 where they run all the time.
std::vector<double> short_waits(const Workload& workload, const Lowered& lowered, const Timeline& timeline,
                                const StepWindow& window, Seconds at_most);

/// What a step of the window was like on average.
Measured measure(const Scenario& scenario, const Workload& workload, const Lowered& lowered,
                 const Timeline& timeline, const StepWindow& window);

}  // namespace gradway
