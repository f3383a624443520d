// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "sim/lower/lower.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/metrics/steps.hpp"

namespace gradway {

struct ResourceUses {
  std::vector<ResourceUse> links;  ///< busiest first; if more than `most_links_listed`, one of those alike
  std::vector<std::pair<ResourceId, Bytes>> carried;  ///< as in Measured
};

/// Use of links and memories in a step.
ResourceUses use_of_resources(const StepWindow& window, const Platform& platform, const Lowered& lowered);

}  // namespace gradway
