// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/compute/compute_costs.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// Adds the tasks of `clip_grad_norm_`: a norm of each tensor, the norm of these norms, its sum over ranks
/// that hold shards, and the scaling of gradients. None of them waits for the CPU.
/// @source torch/nn/utils/clip_grad.py (foreach), PyTorch 2.11; FSDP1: fully_sharded_data_parallel.py
void clip_gradients(TaskList& tasks, const RankScenario& scenario, Sync& sync);

/// All-reduce of one number to which each rank of a group adds its part of the norm.
TaskId sum_norm_over(TaskList& tasks, Slot group, TaskId norm);

}  // namespace gradway
