// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/scenario/job.hpp"

namespace gradway::report {

/// Python that wraps `model`, whose repeated parts are `blocks`, as the strategy has it.
/// @source torch/distributed/fsdp/_fully_shard/_fully_shard.py, torch/distributed/fsdp/
/// fully_sharded_data_parallel.py and wrap.py, PyTorch 2.11
std::string wrapped_model(const Fsdp& fsdp, const Job& job);
std::string wrapped_model(const Fsdp1& fsdp, const Job& job);

/// Python that makes those of `blocks` run again before their backward pass that the job says.
std::string recomputed_blocks(const Job& job);

/// What DeepSpeed's configuration says of the job; its own defaults are left out; the norm to clip
/// to is the reader's.
/// @source deepspeed/runtime/config.py, deepspeed/runtime/zero/config.py, 0.19
std::string deepspeed_config(const Zero& zero, const Job& job);

}  // namespace gradway::report
