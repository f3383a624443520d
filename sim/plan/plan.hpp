// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/graph/workload_graph.hpp"
#include "sim/plan/compute_costs.hpp"
#include "sim/plan/scenario.hpp"

namespace gradway {

/// What PyTorch issues in one step of the scenario's job, in the order in which a rank's CPU issues it.
///
/// Each micro-step copies its input, runs the layers forward and backward. Under DDP the gradients of the
/// last micro-step are copied into their buckets as they get ready, each full bucket is reduced, and after
/// the backward pass the means are copied back unless gradients are views of the buckets. The optimizer waits
/// for all of it. Earlier micro-steps run under no_sync. A strategy of kind collective has one call a step.
WorkloadGraph plan(const Scenario& scenario, const ComputeCosts& costs);

}  // namespace gradway
