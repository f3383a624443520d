// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/lower/collective_ways.hpp"

namespace gradway {

/// What NCCL takes the communicator of the first `ranks` GPUs for when it prices its algorithms: its own
/// nominal rates of the slowest hops, the slowest transport inside a node, and what leaves a node.
Communicator describe_communicator(const Platform& platform, const Routes& routes,
                                   const NcclSettings& settings, const CollectiveWays& ways, int ranks);

}  // namespace gradway
