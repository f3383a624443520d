// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Writes a run as a Chrome trace for ui.perfetto.dev and chrome://tracing, arranged as in nsys.
/// * The first process is the run. Its name says which ranks are shown; its slices are the steps.
/// * One process per node. Each rank has threads for its phases, compute stream, NCCL, copy engine, other
/// streams and CPU launches (see Slices). Overlapping slices use additional rows.
/// * Arrows lead from the kernel that copies the last gradient into a bucket (or, if there is no copy, from
/// the kernel that computes it) to the first collective of the bucket, then to its next ones.
/// * Counters: whether kernels run on the GPU (0 or 100 %), by rank; use of the busiest links and memories in
/// percent of their capacity, by node. Times are microseconds with a resolution of one nanosecond. Runs of
/// more than 64 ranks, or of more than 500,000 tasks over all ranks and steps, show one rank for each class
/// of identical ranks, at most 8; "otherData" and the first process say so. Events are streamed, without a
/// document in memory.
void write_trace(std::ostream& out, const Run& run);

}  // namespace gradway::report
