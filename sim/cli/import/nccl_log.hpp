// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"
#include "sim/import/nccl_log/nccl_log.hpp"
#include "sim/study/nccl_log/check_nccl_log.hpp"

namespace gradway::cli {

/// Reads what the ranks of a job printed with NCCL_DEBUG=INFO. @throws ConfigError
NcclLog read_nccl_logs(const std::vector<std::string>& files);

/// Compares each communicator of a log with a platform. @throws ConfigError if the ranks do not fit on it
std::vector<CheckedCommunicator> check_communicators(const NcclLog& log, const std::string& platform,
                                                     const CommandContext& context);

}  // namespace gradway::cli
