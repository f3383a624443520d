// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "observe/diagnose/rank_run.hpp"
#include "readers/kineto/read/steps.hpp"

namespace gradway {

/// Adds what the CPU did in each step, what launches of one stream waited for on others, and which kernels
/// only compute values that the CPU reads.
///
/// A trace does not say which event a stream waits for. A launch after cudaStreamWaitEvent is taken to wait
/// for the last activity of each other stream that was launched before and ended before it began: the most
/// that the measurement allows.
/// @param launches of the steps, as many as `run.activities`, with the CPU's time
void add_program(const Trace& trace, const std::vector<const TracedLaunch*>& launches,
                 const KernelNames& names, RankRun& run);

}  // namespace gradway
