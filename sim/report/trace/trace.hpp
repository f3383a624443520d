// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Writes a run as a Chrome trace, which ui.perfetto.dev and chrome://tracing open, laid out as nsys does.
///
/// * The first process is the run: its name says which ranks are shown, its slices are the steps.
/// * A process a node. Each rank has threads for its phases, compute stream, NCCL, copy engine, other streams
/// and the CPU's launches (see Slices); what overlaps goes to further rows of a thread.
/// * Arrows lead from the kernel that puts the last gradient of a bucket in place (where that takes no time,
/// from the kernel whose gradient it is) to the first collective of the bucket, and from there to its next
/// ones.
/// * Counters: the share of the GPU's time in which kernels run (0 or 100 %), by rank; the use of the busiest
/// links and memories in % of their capacity, under the node they belong to.
///
/// Dates are in microseconds, in whole nanoseconds. Runs of more than 64 ranks, or of more than 500,000 tasks
/// of all ranks and steps, keep one rank for each class of ranks that do the same, at most 8; "otherData" and
/// the first process say so. Events are written as they are found: no document is built in memory.
void write_trace(std::ostream& out, const Run& run);

}  // namespace gradway::report
