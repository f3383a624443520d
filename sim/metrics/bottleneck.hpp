// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/metrics/metrics.hpp"
#include "sim/plan/scenario.hpp"

namespace gradway {

/// Names what the largest part of the step waits for, and why.
/// @param links busiest first; that a neighbour's traffic wants as well counts as used
Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics,
                           const std::vector<ResourceUse>& links);

}  // namespace gradway
