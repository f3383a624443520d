// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/rank_scenario.hpp"
#include "sim/graph/workload.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {

/// A task of the model itself, and how many gradients are ready once it was issued.
struct ModelTask {
  Task task;
  std::size_t gradients = 0;
  std::int32_t block = Blocks::none;
  int waits_for = 0;           ///< calls of its pass, the oldest that no task waited for
  bool of_parameters = false;  ///< makes gradients of parameters alone, in a backward pass that is split
  RankGroup over = RankGroup::tensor;  ///< of a call
  bool is_once = false;                ///< in the first micro-batch of a step alone
};

/// All gradients of a model in the order in which they get ready: layers from the last to the first, and the
/// parameters of a layer from the last to the first. Gradients are fp32.
std::vector<Unit::Gradient> gradients_in_order(const Model& model);

/// What one micro-step and the optimizer issue without data parallelism, in the order of issue. Gradients get
/// ready in the order of `gradients_in_order`.
struct ModelTasks {
  std::vector<ModelTask> forward;  ///< input copies included
  std::vector<ModelTask> again;    ///< of the forward pass, if not all of a block runs again
  std::vector<ModelTask> backward;
  std::vector<ModelTask> optimizer;
};

/// The optimizer's step. Of sharded tensors each of its kernels is launched when many tensors were looked at:
/// in pieces.
std::vector<ModelTask> optimizer_tasks(const RankScenario& scenario, const ComputeCosts& costs);

/// Of a model that is described layer by layer: one task for a layer and direction, all gradients of a layer
/// ready after its backward task; two backward tasks where a pipeline splits them. Of a profile: one task a
/// launch.
/// @param pause before each kernel of a profile
/// @param blocks of the model, if they matter; else null
ModelTasks model_tasks(const RankScenario& scenario, const ComputeCosts& costs, std::optional<Seconds> pause,
                       const Blocks* blocks);

}  // namespace gradway
