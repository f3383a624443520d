// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "sim/import/topology/nccl_graphs.hpp"
#include "sim/report/text/style.hpp"

namespace gradway::report {

/// Writes what NCCL's search found: channels, their speed and how far they go, and the order of GPUs in them.
void write_graphs(std::ostream& out, const std::vector<NcclGraph>& graphs, const Style& style);

}  // namespace gradway::report
