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

/// Finds what the largest part of the step waits for.
/// @param links sorted by use, busiest first; demand of a neighbour's traffic counts as use
/// @param nccl limit of NCCL's collectives where no link is saturated; empty on platforms with ideal ones
Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl);

}  // namespace gradway
