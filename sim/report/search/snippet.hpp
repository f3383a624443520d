// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/scenario/job.hpp"

namespace gradway::report {

/// Framework settings that reproduce a job.
struct Snippet {
  std::string framework;  ///< "pytorch", "deepspeed"
  std::string file;       ///< "ddp.py", "fsdp.py", "model.py", "ds_config.json"
  std::string text;
};

/// Python that configures PyTorch for the job: NCCL's variables, activation checkpointing, arguments of
/// DistributedDataParallel (PyTorch 2.8), `fully_shard` or FullyShardedDataParallel (2.11) that differ from
/// their defaults, hooks and prefetches. The user defines `model`, its `blocks` and `local_rank`. What a
/// training loop does itself (accumulation) is a comment. For ZeRO: DeepSpeed's configuration. Without an
/// exchange: what prepares the model.
/// @pre the strategy is DDP, FSDP, ZeRO or none
/// @source torch/nn/parallel/distributed.py (bucket_cap_mb is in MiB and need not be whole),
/// torch/distributed/algorithms/ddp_comm_hooks, PyTorch 2.8; others: snippet.cpp
Snippet snippet_of(const Job& job);

}  // namespace gradway::report
