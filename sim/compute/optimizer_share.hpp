// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/compute/rank_scenario.hpp"
#include "sim/cost/framework_cost.hpp"

namespace gradway {

/// Whether the gradients of routed experts are added up over other ranks than those of the rest.
bool splits_experts(const Job& job, const Model& model);

/// Parameters of a rank, of routed experts or of all else: the model with those alone. Layers keep their
/// places.
Model with_parameters(const Model& model, bool of_experts);

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
