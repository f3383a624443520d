// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "readers/kineto/read/trace.hpp"
#include "sim/base/problem.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// A launch: an activity of the GPU, the CUDA call that issued it and the operation of PyTorch that made the
/// call. Points into the trace.
struct TracedLaunch {
  const ApiCall* call = nullptr;
  const TracedActivity* activity = nullptr;
  const TracedOperation* operation = nullptr;  ///< Null if unknown.
  bool in_backward = false;                    ///< Launched by autograd.
  bool is_main_thread = false;                 ///< Launched by the thread that runs the optimizer.
  ProfiledPhase phase = ProfiledPhase::forward;
  bool host_waits = false;
  bool waits_known = true;  ///< False for the last launch: a trace ends with a synchronisation of its own.
  std::int64_t cpu = 0;     ///< Nanoseconds since the end of the previous launch, without waiting.
  /// False for the first launch: the trace does not show when the CPU began to prepare it.
  bool cpu_known = true;
};

struct JoinedLaunches {
  std::vector<TracedLaunch> launches;  ///< Sorted by the start of their calls.
  /// Number of activities whose call is not in the trace: they were launched before it began.
  std::size_t orphans = 0;
};

/// Joins activities, calls (by correlation) and operations (by external id, else by time), and marks what
/// autograd launched: what lies in its "evaluate_function" operations, or on a thread of its own.
/// @param trace its operations are sorted by external id.
JoinedLaunches join_launches(Trace& trace);

/// A training step of a trace.
struct TracedStep {
  std::int64_t begin = 0;  ///< Time of the CPU in nanoseconds.
  std::int64_t end = 0;
  std::span<TracedLaunch> launches;
  bool is_complete = false;  ///< It has a forward pass, a backward pass and an optimizer step.
  /// Forward and backward passes since the previous step of the optimizer. 0: an earlier micro-step of a step
  /// that was divided.
  int passes = 1;
};

/// Divides launches into steps and assigns their phases.
///
/// Steps are those that the profiler marked ("ProfilerStep#3") if each of them contains one step of the
/// optimizer; otherwise each step ends with a step of the optimizer. What autograd launched is the backward
/// pass; what follows it (clipping, the optimizer, the program's work before the next step) is the
/// optimizer's phase; the rest is the forward pass.
/// @param trace   named in messages. @param problems receives what makes the trace unusable.
std::vector<TracedStep> find_steps(const Trace& trace, std::vector<TracedLaunch>& launches, const Where& file,
                                   std::vector<Problem>& problems);

/// Divides steps with several forward and backward passes into their micro-steps; the last one has the
/// optimizer and is complete if the step is. A problem if the passes of a step launch different kernels, as
/// those of several losses do.
std::vector<TracedStep> micro_steps(const Trace& trace, std::vector<TracedStep> steps, const Where& file,
                                    std::vector<Problem>& problems);

/// Launches and times of a step, averaged over the steps that launch the same kernels.
struct AveragedSteps {
  std::vector<std::size_t> used;  ///< Indices of the averaged steps.
  std::vector<Seconds> cpu;       ///< Time of the CPU, by launch.
  std::vector<Seconds> gpu;
  std::vector<bool> host_waits;
  Seconds step_time{};  ///< From the end of a step's work on the GPU to the end of the next step's.
  Seconds gap{};        ///< Usual gap between two activities of a stream while the CPU was ahead.

  std::size_t representative() const { return used.back(); }
};

/// Averages the largest group of complete steps that launch the same kernels, copies and memsets in the same
/// order; of groups of equal size, the later one. Each time is the lower median over the steps. All of them
/// are then scaled by one factor, so that they add up to the lower median of the steps' sums. `warnings`
/// names the other steps.
/// @pre at least one step is complete
AveragedSteps average(std::span<const TracedStep> steps, std::vector<std::string>& warnings);

/// The stream on which kernels spend most time.
std::int64_t main_stream(std::span<const TracedLaunch> launches);

}  // namespace gradway
