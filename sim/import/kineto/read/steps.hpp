// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/import/kineto/read/launches.hpp"

namespace gradway {

/// A training step of a trace.
struct TracedStep {
  std::int64_t begin = 0;  ///< on the CPU, nanoseconds
  std::int64_t end = 0;
  std::span<TracedLaunch> launches;
  bool is_complete = false;  ///< has a forward pass, a backward pass and an optimizer
};

/// Cuts launches into steps and tells their phases.
///
/// Steps are those that the profiler marked ("ProfilerStep#3") if each of them holds one step of the
/// optimizer; else each ends with a step of the optimizer. In a step, what autograd launched is the backward
/// pass; what comes after it (clipping, the optimizer, what the program does before the next step) is the
/// optimizer's phase; the rest is the forward pass.
/// @param trace   named in messages. @param problems gets what makes the trace unfit.
std::vector<TracedStep> find_steps(const Trace& trace, std::vector<TracedLaunch>& launches, const Where& file,
                                   std::vector<Problem>& problems);

}  // namespace gradway
