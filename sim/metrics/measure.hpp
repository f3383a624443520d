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

/// Mean parts of a step in the window, by program.
std::vector<MeasuredProgram> measure_programs(const Workload& workload, const Lowered& lowered,
                                              const Timeline& timeline, const StepWindow& window);

/// By program: the share of its time without kernels that lies in the first `at_most` of each gap between
/// kernels; 1 if there are no gaps.
std::vector<double> idle_fractions(const Workload& workload, const Lowered& lowered, const Timeline& timeline,
                                   const StepWindow& window, Seconds at_most);

/// The mean step of the window.
Measured measure(const Scenario& scenario, const Workload& workload, const Lowered& lowered,
                 const Timeline& timeline, const StepWindow& window);

}  // namespace gradway
