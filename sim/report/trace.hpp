// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Writes a run as a Chrome trace, which ui.perfetto.dev and chrome://tracing open.
///
/// A process a rank; a thread for the CPU's launches, the compute stream, the communicator's stream, the copy
/// engine and, where there are any, other streams. A slice is a task of the workload graph on a rank: from
/// the start of its first op to the end of its last. Slices without a duration are left out. Slices that
/// overlap on one thread go to further rows of it. Dates are in microseconds, cut to whole nanoseconds. Runs
/// of more than 64 ranks keep the first 8; "otherData" says so. Slices are written as they are found: no
/// document is built in memory.
void write_trace(std::ostream& out, const Run& run);

}  // namespace gradway::report
