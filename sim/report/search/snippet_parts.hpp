// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/search/layouts.hpp"
#include "sim/scenario/job.hpp"

namespace gradway::report {

/// DeepSpeed's configuration of the job, without settings at their defaults. The user chooses the norm to
/// clip to.
/// @source deepspeed/runtime/config.py, deepspeed/runtime/zero/config.py, 0.19
std::string deepspeed_config(const Zero& zero, const Job& job);

// Settings with which a trainer runs a job, except for the model, the data and the learning rate.

/// Tables of torchtitan's job file. @source torchtitan/config/job_config.py, 0.2
std::string torchtitan_tables(const Job& job, const SnippetModel& model);

/// Arguments of Megatron-LM's pretrain_gpt.py. @source megatron/training/arguments.py, Megatron-Core 0.14
std::string megatron_arguments(const Job& job, const SnippetModel& model);

/// Comments on settings of a job that neither trainer has.
std::string unsupported_notes(const Job& job);

/// A comment on a key of the scenario that the trainer has no setting for. @param value as in the scenario;
/// empty: its default, which needs no comment
std::string unsupported_note(std::string_view key, const std::string& value);

}  // namespace gradway::report
