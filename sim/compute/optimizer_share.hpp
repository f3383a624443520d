// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/compute/rank_scenario.hpp"
#include "sim/cost/framework_cost.hpp"

namespace gradway {

/// Whether gradients of routed experts are reduced over a different group of ranks than other gradients.
bool splits_experts(const Job& job, const Model& model);

/// The model with only the parameters of routed experts, or with only all others. Indices of layers do not
/// change.
Model with_parameters(const Model& model, bool of_experts);

/// Share of the parameters that the optimizer updates on the GPU with the largest share.
double optimizer_share(const RankScenario& scenario);

/// Bytes of a parameter on a rank, of its gradient and of each number of the optimizer's state: those of
/// `job.state_dtype`, or those that a profile recorded if the strategy does not set formats.
double state_bytes(const RankScenario& scenario);

/// CPU time to issue the optimizer's step on flat tensors or DTensors, which FSDP2 and PyTorch's tensor
/// parallelism have; empty: on plain tensors.
std::optional<HookCost> optimizer_hook(const Job& job);

/// By rank: sizes of the parameter tensors that it sends after its step under ZeroRedundancyOptimizer.
/// Tensors are assigned by size, largest first, each to the rank with the least bytes so far.
/// @source torch/distributed/optim/zero_redundancy_optimizer.py, PyTorch 2.11
std::vector<std::vector<Bytes>> tensors_of_ranks(const Model& model, int ranks);

}  // namespace gradway
