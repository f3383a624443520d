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

/// Whether DDP copies reduced gradients out of its buckets: gradients are not views into them.
bool copies_out_of_buckets(const Trace& trace);

}  // namespace gradway
