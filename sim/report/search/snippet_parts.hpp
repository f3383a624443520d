// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/search/layouts.hpp"
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

/// A text in quotes.
std::string python_text(std::string_view text);

/// A call on one line, or with a line for each argument. @param start "model = DistributedDataParallel"
std::string python_call(std::string_view start, const std::vector<std::string>& arguments);

// The settings with which a trainer runs a job, complete but for the model, the data and the learning rate.

/// Tables of torchtitan's job file. @source torchtitan/config/job_config.py, 0.2
std::string torchtitan_tables(const Job& job, const SnippetModel& model);

/// Arguments of Megatron-LM's pretrain_gpt.py. @source megatron/training/arguments.py, Megatron-Core 0.14
std::string megatron_arguments(const Job& job, const SnippetModel& model);

/// What neither trainer can be told of a job, whatever its framework: lines of comments.
std::string unsaid_of_job(const Job& job);

/// A comment: a key of the scenario that the trainer has no setting for. @param value as the scenario has it
std::string unsaid(std::string_view key, const std::string& value);

}  // namespace gradway::report
