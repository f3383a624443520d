// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/sync.hpp"
#include "sim/workload/memory_use.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// Memory of one GPU at the peak of a step: the largest of the ends of the forward pass, of its loss, of the
/// backward pass, and of the optimizer's step.
///
/// NCCL's buffers are left out: see `nccl_buffers`.
/// @param step what the model's passes hold (`ComputeCosts::memory`); empty: nobody knows, it is left out
MemoryUse memory_use(const RankScenario& scenario, const StepMemory& step, const Sync& sync);

/// Of so many channels.
Bytes nccl_buffers(int channels);

}  // namespace gradway
