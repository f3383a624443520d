// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/sync.hpp"
#include "sim/workload/memory_use.hpp"
#include "sim/workload/profile.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// Memory of one GPU at the peak of a step: the largest of the ends of the forward pass, of its loss, of the
/// backward pass, and of the optimizer's step.
///
/// NCCL's buffers are left out: see `nccl_buffers`.
/// @param step what the model's passes hold (`ComputeCosts::memory`); empty: nobody knows, it is left out
MemoryUse memory_use(const RankScenario& scenario, const StepMemory& step, const Sync& sync);

/// What the passes of a profiled step hold with the job's batch. Empty: the profile does not tell.
StepMemory memory_of_profile(const Profile& profile, const Job& job);

/// Whether all that the passes hold is known: a profile may lack some of it, and tells nothing of blocks that
/// are computed again.
bool knows_memory(const Scenario& scenario);

/// Of so many channels.
Bytes nccl_buffers(int channels);

}  // namespace gradway
