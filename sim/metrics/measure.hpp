// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/timeline.hpp"
#include "sim/graph/workload_graph.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/plan/scenario.hpp"

namespace gradway {

/// What the reported step was like, seen from rank 0: the last simulated one, or one before it if the plan
/// says so. With several steps it counts from the end of the one before (the steady state); with one from the
/// start of the run.
Measured measure(const Scenario& scenario, const WorkloadGraph& workload, const Lowered& lowered,
                 const Timeline& timeline);

}  // namespace gradway
