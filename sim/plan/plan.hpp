// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/graph/workload.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/sync.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A workload in which all ranks of the job run one program.
/// @param partitions by slot; if empty, all ranks form one group if the program makes calls
Workload on_all_ranks(Program program, const Scenario& scenario, std::vector<Partition> partitions = {});

/// The tasks that the framework issues in the steps of the job. `model_step` makes the program of a rank; the
/// folders of strategies add their communication. A strategy of kind collective makes one call per step.
Workload plan(const Scenario& scenario, const ComputeCosts& costs);

/// The programs of the job's ranks alone. @pre the strategy trains
std::vector<Program> programs_of_ranks(const Scenario& scenario, const ComputeCosts& costs);

/// By program of the job's ranks: the memory of a GPU, as `Program::memory`, without a plan of the tasks.
std::vector<MemoryUse> memory_of_ranks(const Scenario& scenario, const ComputeCosts& costs);

/// By program of the job's ranks: its memory over a step (see sim/plan/memory.hpp).
std::vector<std::vector<MemoryMoment>> memory_over_step(const Scenario& scenario, const ComputeCosts& costs);

/// The same workload with other kernel times. @param workload of the scenario
Workload with_costs(Workload workload, const Scenario& scenario, const ComputeCosts& costs);

}  // namespace gradway
