// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/import/kineto/read/launches.hpp"

namespace gradway {

/// The usual time of autograd to hand a parameter its gradient, without a launch; nothing if too few did.
std::optional<Seconds> time_to_accumulate(const Trace& trace);

/// Fills in what the CPU needed for each launch and where it then waited for the GPU.
///
/// A launch takes the time from the end of the call before it to the end of its own, less what is no work:
/// the profiler's own overhead, synchronisations (a launch before one gets `host_waits`), and the waiting
/// inside of the call itself. That is not in the trace, but shows: a call waits when the queue of launches is
/// full (1,024 of them on the GPUs of today) or when it copies and returns only with the data. Such a call,
/// and one that lasts ten times longer than its kind usually does, counts with the median of its kind.
/// @param launches by the start of their calls.
void measure_cpu_time(const Trace& trace, std::vector<TracedLaunch>& launches);

}  // namespace gradway
