// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/graph/workload.hpp"
#include "sim/report/text/style.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway::report {

/// Writes what the framework will issue in a step of a scenario: DDP's buckets, the tasks of each phase with
/// their work, and the collectives.
void write_plan(std::ostream& out, const Scenario& scenario, const Workload& workload, const Style& style);

}  // namespace gradway::report
