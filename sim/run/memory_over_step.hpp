// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/plan/memory.hpp"
#include "sim/run/simulate.hpp"

namespace gradway {

/// The memory over a step of the GPU that needs most, planned once more. Each moment has NCCL's buffers, and
/// the allocator's slack of the peak. Empty if the memory is unknown.
std::vector<MemoryMoment> memory_over_step(const Run& run);

}  // namespace gradway
