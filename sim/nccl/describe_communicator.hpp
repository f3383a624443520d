// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/collective_ways.hpp"

namespace gradway {

/// Properties of a communicator by which NCCL estimates the times of its algorithms: its nominal rates of the
/// slowest hops, the slowest transport inside a node, and the rate between nodes.
CommunicatorFacts describe_communicator(const Platform& platform, const Routes& routes,
                                        const NcclSettings& settings, const CollectiveWays& ways, int ranks);

}  // namespace gradway
