// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "readers/samples/samples.hpp"
#include "sim/cost/calibration.hpp"

namespace gradway {

/// Fits rates of copies: for each role latency and bandwidth by a robust line over the sizes, with the range
/// of bandwidths when any one size is left out; and for each number of GPUs that copied to and from host
/// memory at once, the rate of the host memory, which is that of all copies at the pace of the slowest.
std::vector<LinkRate> fit_links(const Samples& samples);

/// Time of a copy alone. @pre a link with a bandwidth
Seconds copy_time(const LinkRate& link, Bytes size);

/// The link of a role, or null. Not for host memory.
const LinkRate* link_of(const std::vector<LinkRate>& links, LinkRole role);

/// Rate at which each GPU sends through host memory when all of them do, which is the bus bandwidth of a ring
/// over it: each hop is one copy from a GPU and one to the next, and the slowest hop limits the ring.
/// @pre a rate of host memory
BytesPerSecond ring_rate(const LinkRate& host_memory);

/// Predicts tables of SHM all-reduce for each number of GPUs for which the rate of host memory is known, but
/// no collective over SHM was measured: NCCL's own latency for the algorithm and protocol that it would
/// choose, plus the bytes of a ring over that protocol at the rate at which the host memory serves all its
/// hops at once. Sizes from 1 KiB to 1 GiB.
///
/// The caches of the CPU are neglected, so the prediction is too slow for buffers of some MB.
/// @validated tests/fit/predict_shm_test.cpp
std::vector<CollectiveTable> predict_shm(const std::vector<LinkRate>& links,
                                         const std::vector<CollectiveTable>& measured);

}  // namespace gradway
