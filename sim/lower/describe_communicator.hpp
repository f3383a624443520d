// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/lower/transport.hpp"

namespace gradway {

/// What NCCL takes the communicator of the first `ranks` GPUs for when it prices its algorithms: its own
/// nominal rates of the slowest hops, the slowest transport inside a node, and what leaves a node.
/// @param rings the hops of each ring, in the order of `ring_orders`
Communicator describe_communicator(const Platform& platform, const Routes& routes,
                                   const NcclSettings& settings, const std::vector<std::vector<Hop>>& rings,
                                   int ranks);

}  // namespace gradway
