// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/graph/workload.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/pipeline/exchanges.hpp"
#include "sim/plan/sync.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The program of a rank: in each micro-step the input copy and the layers forward and backward, then the
/// optimizer, with the tasks that the strategy adds.
/// @param rank_part of the model on the rank, whose passes follow its pipeline schedule; null if the rank
/// trains the whole model, one micro-step after the other
/// @param memory gets the rank's memory over the step; null: not asked for
Program model_step(const Scenario& scenario, const ComputeCosts& costs, Sync& sync,
                   const RankPart* rank_part = nullptr, std::vector<MemoryMoment>* memory = nullptr);

/// A workload of one collective call per step. @pre the strategy is of kind collective
Workload plan_collective(const Scenario& scenario);

}  // namespace gradway
