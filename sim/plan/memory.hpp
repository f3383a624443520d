// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/sync.hpp"
#include "sim/workload/memory_use.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// Memory of one GPU at the peak of a step: the largest of the forward pass, its loss, the backward pass and
/// the optimizer's step. It excludes NCCL's buffers: see `nccl_buffers`.
/// @param step memory of the model's passes (`ComputeCosts::memory`); if empty, unknown and left out
MemoryUse memory_use(const RankScenario& scenario, const StepMemory& step, const Sync& sync);

/// NCCL's buffers and kernels for a number of channels.
Bytes nccl_buffers(int channels);

}  // namespace gradway
