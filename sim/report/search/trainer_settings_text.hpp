// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/search/layouts.hpp"

namespace gradway::report {

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
