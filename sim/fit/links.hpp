// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/fit/samples.hpp"

namespace gradway {

/// What copies reach: of each way the rate of the largest copy and the time of the smallest; and for each
/// number of GPUs that copied to and from host memory at once, the rate of the host memory: all copies
/// together, at the pace of the slowest.
std::vector<LinkRate> fit_links(const Samples& samples);

/// Rate at which each GPU sends through host memory when all of them do, so the bus bandwidth of a ring over
/// it: each hop is one copy from a GPU and one to the next, and a ring moves at the pace of its slowest hop.
/// @pre a rate of host memory
BytesPerSecond ring_rate(const LinkRate& host_memory);

}  // namespace gradway
