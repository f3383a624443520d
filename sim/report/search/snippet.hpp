// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/scenario/job.hpp"

namespace gradway::report {

/// What makes a framework train as a job has it.
struct Snippet {
  std::string framework;  ///< "pytorch", "deepspeed"
  std::string file;       ///< "ddp.py", "fsdp.py", "ds_config.json"
  std::string text;
};

/// Python that sets PyTorch up as the job has it: NCCL's variables, activation checkpointing, the arguments
/// of DistributedDataParallel (PyTorch 2.8), `fully_shard` or FullyShardedDataParallel (2.11) that differ
/// from their defaults, hooks and prefetches. `model`, its `blocks` and `local_rank` are the reader's. What a
/// training loop does itself (accumulation) is a comment. For ZeRO DeepSpeed's configuration.
/// @pre the job's strategy is one of those
/// @source torch/nn/parallel/distributed.py (bucket_cap_mb is in MiB and need not be whole),
/// torch/distributed/algorithms/ddp_comm_hooks, PyTorch 2.8; others: fsdp_snippet.hpp
Snippet snippet_of(const Job& job);

}  // namespace gradway::report
