// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/workload_graph.hpp"
#include "sim/plan/compute_costs.hpp"
#include "sim/plan/scenario.hpp"

namespace gradway {

/// A task of the model itself, and how many gradients are ready once it was issued.
struct ModelTask {
  Task task;
  std::size_t gradients = 0;
};

/// What one micro-step and the optimizer issue without data parallelism, in the order of issue. Gradients get
/// ready in the order in which `ddp_buckets` takes them.
struct StepProgram {
  std::vector<ModelTask> forward;  ///< input copies included
  std::vector<ModelTask> backward;
  std::vector<ModelTask> optimizer;
};

/// Of a model that is described layer by layer: one task for a layer and direction, all gradients of a layer
/// ready after its backward task. Of a profile: one task a launch.
/// @param pause before each kernel of a profile
StepProgram step_program(const Scenario& scenario, const ComputeCosts& costs, std::optional<Seconds> pause);

}  // namespace gradway
