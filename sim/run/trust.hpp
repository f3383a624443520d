// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/lower/collectives.hpp"
#include "sim/plan/compute_costs.hpp"
#include "sim/plan/scenario.hpp"

namespace gradway {

/// Why one should believe a prediction, and why one should not.
struct Trust {
  std::vector<std::string> basis;
  std::vector<std::string> warnings;
};

Trust what_it_rests_on(const Scenario& scenario, const ComputeCosts& costs,
                       const CollectiveLowering& collectives);

}  // namespace gradway
