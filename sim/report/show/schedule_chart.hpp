// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/format/style.hpp"
#include "sim/scenario/pipeline/schedule.hpp"

namespace gradway::report {

/// The passes of a pipeline as papers draw them, a line for each rank: forward passes take a column, backward
/// passes two, halves of them one; transfers take no time. Ends at the edge of the terminal.
void write_schedule_chart(std::ostream& out, const Pipeline& pipeline, int micro_batches, const Style& style);

}  // namespace gradway::report
