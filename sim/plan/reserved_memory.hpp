// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan/sync.hpp"
#include "sim/workload/memory_use.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// What PyTorch's allocator has reserved after the first steps if the GPU has room.
/// @param always memory that is in use during the whole step
/// @param allocated at the peak of a step
/// @param gradients that live until the optimizer's step, outside buckets
/// @param transient temporaries of the optimizer's step
Bytes reserved_memory(const RankScenario& scenario, const StepMemory& step, const SyncMemory& of_sync,
                      const MemoryUse& always, Bytes allocated, Bytes gradients, Bytes transient);

}  // namespace gradway
