// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/graph/workload.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A number of micro-batches whose step stands for one with more of them.
struct FewerMicroBatches {
  int simulated = 0;  ///< micro-batches
  int period = 0;     ///< micro-batches after which a schedule does the same again
  int left_out = 0;   ///< periods
};

/// All attempts together simulate at most this share of the micro-batches.
constexpr double most_simulated = 0.8;

/// Numbers of micro-batches to try for a job, fewest first: enough to fill its pipeline, to repeat a few
/// periods and to drain it. Empty if that saves little or if steps of the job need not repeat within: passes
/// of one kind all come before the other, a loader makes its batches, or a step is one CUDA graph.
std::vector<FewerMicroBatches> fewer_micro_batches(const Job& job);

/// The workload of a step with fewer micro-batches, which stands for all: `Program::repeated` has what
/// repeats, and samples are those of the whole step. Empty if the tasks of a program do not repeat.
/// @param scenario keeps its job
std::optional<Workload> plan_fewer(Scenario& scenario, const ComputeCosts& costs,
                                   const FewerMicroBatches& fewer);

/// The same as `with_costs` of a workload from `plan_fewer`.
std::optional<Workload> with_costs_of_fewer(Workload workload, Scenario& scenario, const ComputeCosts& costs,
                                            const FewerMicroBatches& fewer);

}  // namespace gradway
