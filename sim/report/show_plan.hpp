// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/graph/workload.hpp"
#include "sim/plan/scenario.hpp"
#include "sim/report/style.hpp"

namespace gradway::report {

/// Writes what the framework will issue in a step of a scenario: DDP's buckets, the tasks of each phase with
/// their work, and the collectives.
void write_plan(std::ostream& out, const Scenario& scenario, const Workload& workload, const Style& style);

}  // namespace gradway::report
