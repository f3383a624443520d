// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/samples/samples.hpp"

namespace gradway {

/// Rates of copies: for each role latency and bandwidth by a robust line over the sizes, with the range of
/// bandwidths when any one size is left out; and for each number of GPUs that copied to and from host memory
/// at once, the rate of the host memory, which is that of all copies at the pace of the slowest.
std::vector<LinkRate> fit_links(const Samples& samples);

/// Time of a copy alone. @pre a link with a bandwidth
Seconds copy_time(const LinkRate& link, Bytes size);

/// The link of a role, or null. Not for host memory.
const LinkRate* link_of(const std::vector<LinkRate>& links, LinkRole role);

/// Rate at which each GPU sends through host memory when all of them do, so the bus bandwidth of a ring over
/// it: each hop is one copy from a GPU and one to the next, and a ring moves at the pace of its slowest hop.
/// @pre a rate of host memory
BytesPerSecond ring_rate(const LinkRate& host_memory);

}  // namespace gradway
