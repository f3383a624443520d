// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "readers/nccl_log/nccl_log.hpp"

namespace gradway::cli {

/// Reads what the ranks of a job printed with NCCL_DEBUG=INFO. @throws ConfigError
NcclLog read_nccl_logs(const std::vector<std::string>& files);

}  // namespace gradway::cli
