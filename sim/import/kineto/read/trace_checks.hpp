// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/problem.hpp"
#include "sim/import/kineto/read/trace.hpp"

namespace gradway {

/// What makes a trace unfit as a whole, each with what to record instead: no GPU or no CPU in it, no shapes,
/// several GPUs or processes, distributed training, kernels that take no time, or overlap on a stream
/// although they were not launched programmatically.
std::vector<Problem> check_trace(Trace& trace, const Where& file);

/// Makes the durations of each stream add up to the time that the stream is busy: a kernel that begins before
/// its predecessor ends waits for it, so that it counts from there on.
void count_overlaps_once(Trace& trace);

}  // namespace gradway
