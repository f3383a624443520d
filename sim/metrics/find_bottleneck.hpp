// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/metrics/metrics.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Limit and latency of NCCL's collectives of a step.
struct NcclUse {
  ChannelLimit limit;
  Seconds latency{};  ///< total of all collectives of the step
};

/// Finds the limit of the largest part of the step.
/// @param links sorted by use, busiest first; the demand of a neighbour's traffic counts as use
/// @param nccl limit of NCCL's collectives if no link is saturated; empty on platforms with ideal collectives
Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl);

}  // namespace gradway
