// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/metrics/metrics.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What NCCL's collectives of a step are made of.
struct NcclUse {
  ChannelLimit limit;
  Seconds latency{};  ///< of all collectives of the step together
};

/// Names what the largest part of the step waits for, and why.
/// @param links busiest first; that a neighbour's traffic wants as well counts as used
/// @param nccl what bounds its collectives where no link is full; empty on platforms with ideal ones
Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl);

}  // namespace gradway
