// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/graph/workload.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// One call of a collective a step, and nothing else. @pre the strategy is of kind collective
Workload plan_collective(const Scenario& scenario);

}  // namespace gradway
