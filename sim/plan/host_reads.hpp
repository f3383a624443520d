// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/compute/rank_scenario.hpp"
#include "sim/plan/task_list.hpp"

namespace gradway {

/// Copies a tensor to pageable host memory in the order of the compute stream. The CPU waits until the copy
/// has ended, as `.item()` and `.cpu()` do.
/// @source aten/src/ATen/native/cuda/CUDAScalar.cu, _local_scalar_dense_cuda: cudaMemcpyAsync and
/// cudaStreamSynchronize, PyTorch 2.11
TaskId read_back(TaskList& tasks, std::string name, Phase phase, Bytes size);

/// Adds the reads of a step (job.host_reads) if they follow this phase. The first value exists, as a loss
/// does. Each further one is the result of a small kernel that is launched after the read before it.
void read_values(TaskList& tasks, const RankScenario& scenario, HostReadsAfter phase);

}  // namespace gradway
