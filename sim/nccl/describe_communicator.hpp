// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/collective_ways.hpp"

namespace gradway {

/// What NCCL takes the communicator of some GPUs for when it prices its algorithms: its own
/// nominal rates of the slowest hops, the slowest transport inside a node, and what leaves a node.
CommunicatorFacts describe_communicator(const Platform& platform, const Routes& routes,
                                        const NcclSettings& settings, const CollectiveWays& ways,
                                        const GpuNumbers& gpus);

}  // namespace gradway
