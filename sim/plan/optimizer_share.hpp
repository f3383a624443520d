// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/rank_scenario.hpp"

namespace gradway {

/// Of all parameters, which part the optimizer steps on the GPU that has most to do.
double optimizer_share(const RankScenario& scenario);

/// Bytes of a parameter as a rank keeps it, and of its gradient and of each number of the optimizer's state:
/// as `job.state_dtype` says; of a profile under DDP or without a strategy, as it was recorded.
double state_bytes(const RankScenario& scenario);

/// What the CPU takes to issue the optimizer's step where it works on tensors of the strategy's own kind;
/// empty: on plain tensors.
std::optional<HookCost> optimizer_hook(const Job& job);

/// Which bytes of parameters each rank sends after its step under ZeroRedundancyOptimizer, tensor by tensor:
/// the largest first, each to the rank that has least so far.
/// @source torch/distributed/optim/zero_redundancy_optimizer.py, PyTorch 2.11
std::vector<std::vector<Bytes>> tensors_of_ranks(const Model& model, int ranks);

}  // namespace gradway
