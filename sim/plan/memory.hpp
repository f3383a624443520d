// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/plan/sync.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/workload/memory_use.hpp"

namespace gradway {

/// Memory of one GPU at the peak of a step: the largest of the ends of the forward pass, of its loss, of the
/// backward pass, and of the optimizer's step.
///
/// Counted as on our own steps: gradients of the step before live until the forward pass ends (a loop that
/// drops them earlier needs less). A profile does not tell its activations; they are left out. So are NCCL's
/// buffers: see `nccl_buffers`.
MemoryUse memory_use(const Scenario& scenario, const Sync& sync);

/// Of so many channels.
Bytes nccl_buffers(int channels);

/// An ideal GPU holds anything.
bool fits(const Scenario& scenario, const MemoryUse& memory);

/// "does not fit: 93 of 24 GB on each l4"
std::string why_it_does_not_fit(const Scenario& scenario, const MemoryUse& memory);

}  // namespace gradway
