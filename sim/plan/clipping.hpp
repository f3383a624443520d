// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/compute/compute_costs.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// What `clip_grad_norm_` issues: a norm of each tensor, the norm of these, its sum over the ranks that hold
/// parts, and the gradients times what follows from it. Nothing of it waits for the CPU.
/// @source torch/nn/utils/clip_grad.py (foreach), PyTorch 2.11; FSDP1: fully_sharded_data_parallel.py
void clip_gradients(TaskList& tasks, const RankScenario& scenario, Sync& sync);

/// The all-reduce of one number to which each rank of a group adds its part of the norm.
TaskId sum_norm_over(TaskList& tasks, Slot group, TaskId norm);

}  // namespace gradway
