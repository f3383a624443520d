// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "observe/nccl_log/check_nccl_log.hpp"
#include "readers/nccl_log/nccl_log.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Writes what NCCL chose, and where it differs from the platform.
/// @param platform its name; empty: nothing was compared, and `checked` is empty
/// @param checked by communicator
void write_nccl_log(std::ostream& out, const NcclLog& log, const std::string& platform,
                    const std::vector<CheckedCommunicator>& checked, const Style& style);

/// The same as one JSON document.
void write_json(std::ostream& out, const NcclLog& log, const std::string& platform,
                const std::vector<CheckedCommunicator>& checked);

}  // namespace gradway::report
