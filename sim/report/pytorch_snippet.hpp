// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/scenario/job.hpp"

namespace gradway::report {

/// Python for PyTorch 2.8 that sets DDP up as the job has it: NCCL's variables, the arguments of
/// DistributedDataParallel that differ from its defaults, and the communication hook. `model` and
/// `local_rank` are the reader's. What a training loop does itself (accumulation) is a comment.
/// @pre the job's strategy is DDP
/// @source torch/nn/parallel/distributed.py (bucket_cap_mb is in MiB and need not be whole),
/// torch/distributed/algorithms/ddp_comm_hooks, PyTorch 2.8
std::string pytorch_snippet(const Job& job);

}  // namespace gradway::report
