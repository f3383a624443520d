// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/compute/compute_costs.hpp"
#include "sim/graph/workload.hpp"
#include "sim/plan/pipeline/exchanges.hpp"
#include "sim/plan/sync.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The program of a rank: in each micro-step the input copy, the layers forward and backward, then the
/// optimizer; and what the strategy adds.
/// @param part that the rank holds, whose passes follow each other as its schedule says; null: the rank
/// trains
///        the whole model, a micro-step after the other
Program model_step(const Scenario& scenario, const ComputeCosts& costs, Sync& sync,
                   const RankPart* part = nullptr);

/// One call of a collective a step, and nothing else. @pre the strategy is of kind collective
Workload plan_collective(const Scenario& scenario);

}  // namespace gradway
