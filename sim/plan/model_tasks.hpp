// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/rank_scenario.hpp"
#include "sim/graph/workload.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {

/// A task of the model, and the number of gradients that are ready after it.
struct ModelTask {
  Task task;
  std::size_t gradients = 0;
  std::int32_t block = Blocks::none;
  int waits_for = 0;                   ///< number of the oldest calls of its pass that it waits for
  bool of_parameters = false;          ///< in a split backward pass: makes gradients of parameters only
  RankGroup over = RankGroup::tensor;  ///< group of a call
  bool is_once = false;                ///< only in the first micro-batch of a step
};

/// All gradients of a model in the order in which they become ready: from the last layer to the first, and
/// from the last parameter of a layer to the first. Gradients are fp32.
std::vector<Unit::Gradient> gradients_in_order(const Model& model);

/// Tasks of a micro-step and of the optimizer without data parallelism, in the order of issue. Gradients
/// become ready in the order of `gradients_in_order`.
struct ModelTasks {
  std::vector<ModelTask> forward;     ///< includes input copies
  std::vector<ModelTask> recomputed;  ///< recomputed tasks, if only parts of a block are recomputed
  std::vector<ModelTask> backward;
  std::vector<ModelTask> optimizer;
};

/// The optimizer's step. With sharded tensors each kernel is launched after the CPU has processed many
/// tensors, so the step is issued in pieces. @param time on the GPU
std::vector<ModelTask> optimizer_tasks(const RankScenario& scenario, const ComputeCosts& costs, Seconds time);

/// For a model that is described by layers: one task per layer and direction, after whose backward task all
/// gradients of the layer are ready; two backward tasks if the pipeline splits them. For a profile: one task
/// per launch.
/// @param pause before each kernel of a profile
/// @param blocks of the model; null if they are not needed
ModelTasks model_tasks(const RankScenario& scenario, const ComputeCosts& costs, std::optional<Seconds> pause,
                       const Blocks* blocks);

}  // namespace gradway
