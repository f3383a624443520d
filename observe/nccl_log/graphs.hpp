// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "readers/topology/nccl_xml.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Writes the graphs of NCCL's search: channels, their speed and furthest path, and the order of GPUs in
/// them.
void write_graphs(std::ostream& out, const std::vector<NcclGraph>& graphs, const Style& style);

}  // namespace gradway::report
