// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/import/kineto/read/trace.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Something that a call put on the GPU, and what asked for it. Points into the trace.
struct TracedLaunch {
  const ApiCall* call = nullptr;
  const TracedActivity* activity = nullptr;
  const TracedOperation* operation = nullptr;  ///< null: none is known
  bool in_backward = false;                    ///< launched by autograd
  bool is_main_thread = false;                 ///< that of the optimizer
  ProfiledPhase phase = ProfiledPhase::forward;
  bool host_waits = false;
  bool waits_known = true;  ///< false for the last launch: a trace ends with a synchronisation of its own
  std::int64_t cpu = 0;     ///< nanoseconds since the end of the launch before it, without waiting
  bool cpu_known = true;    ///< false for the first launch: when it began to be prepared is not in the trace
};

struct JoinedLaunches {
  std::vector<TracedLaunch> launches;  ///< by the start of their calls
  std::size_t orphans = 0;  ///< activities whose call is not in the trace: launched before it began
};

/// Joins activities, calls (by correlation) and operations (by external id, else by time), and tells what
/// autograd launched: what lies in its "evaluate_function" operations, or on a thread of its own.
/// @param trace its operations get sorted by external id.
JoinedLaunches join_launches(Trace& trace);

}  // namespace gradway
