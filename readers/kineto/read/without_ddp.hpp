// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "readers/kineto/read/trace.hpp"

namespace gradway {

/// The trace that the same step would give on one GPU: without collectives and without the copies into
/// buckets, and with the CPU's time for both counted as the profiler's. Scaling of gradients in place, which
/// no operation marks, remains.
/// @param alone durations of activities without contention with collectives, by start, in nanoseconds
Trace without_ddp(Trace trace, const std::unordered_map<std::int64_t, std::int64_t>& alone);

/// Whether a trace is of DDP on one GPU of the trace's process, and of no other division of the model: its
/// collectives are reductions and broadcasts.
bool is_of_ddp_alone(const Trace& trace);

/// Whether DDP copies reduced gradients out of its buckets: gradients are not views into them.
bool copies_out_of_buckets(const Trace& trace);

}  // namespace gradway
