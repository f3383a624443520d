// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/compute/compute_costs.hpp"
#include "sim/graph/workload.hpp"
#include "sim/plan/sync.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A workload in which all ranks of the job run one program.
/// @param partitions by slot; without any, all ranks are one group if the program makes calls
Workload on_all_ranks(Program program, const Scenario& scenario, std::vector<Partition> partitions = {});

/// What the framework issues in the steps of the scenario's job: see `model_step` for what a rank does, and
/// the folders of strategies for what these add. A strategy of kind collective has one call a step.
Workload plan(const Scenario& scenario, const ComputeCosts& costs);

/// The same with other times of kernels. @param workload of the scenario
Workload with_costs(Workload workload, const Scenario& scenario, const ComputeCosts& costs);

}  // namespace gradway
