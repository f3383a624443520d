// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/plan/sync.hpp"
#include "sim/workload/memory_use.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// Memory of one GPU at the peak of a step: the largest of the forward pass, its loss, the backward pass and
/// the optimizer's step. It excludes what NCCL takes (sim/lower/nccl_memory.hpp).
/// @param step memory of the model's passes (`ComputeCosts::memory`); if empty, unknown and left out
MemoryUse memory_use(const RankScenario& scenario, const StepMemory& step, const Sync& sync);

/// What a GPU does at a moment of a step, and the memory that it then uses.
struct MemoryMoment {
  Phase phase = Phase::forward;
  std::int32_t layer = Task::none;  ///< of the model
  MemoryUse use{};
};

/// Memory of one GPU over a step, in order: a micro-step, or all passes of a pipeline's rank, then the
/// optimizer's step. Empty if the memory of the passes is unknown. The largest is that of `memory_use`, but
/// for the allocator's slack. Parameters as for `memory_use`.
std::vector<MemoryMoment> memory_over_step(const RankScenario& scenario, const StepMemory& step,
                                           const Sync& sync);

}  // namespace gradway
