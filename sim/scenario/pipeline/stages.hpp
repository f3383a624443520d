// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// How many parts of a model a pipeline can tell apart: its blocks; of a model of explicit times its layers.
int parts_to_cut(const Model& model);

/// The stage of each layer: as many blocks on each, what stands before the first block on the first stage,
/// what stands behind the last on the last one. What is left over goes to the stages after the first, as that
/// has the embedding and the last the loss. @pre as many `parts_to_cut` as stages at least
std::vector<int> stages_of_layers(const Model& model, int stages);

/// From one rank of a pipeline to another: activations on their way forward, or their gradients back.
struct StageHop {
  int from = 0;  ///< ranks of the pipeline
  int to = 0;
  bool is_backward = false;
  auto operator<=>(const StageHop&) const = default;
};

/// All that a pipeline has, each once.
std::vector<StageHop> hops_of(const Pipeline& pipeline);

/// What a rank of a pipeline holds.
struct PartOfModel {
  Model model;                       ///< with its own layers alone
  std::vector<std::int32_t> chunk;   ///< by layer of the whole model; none: another rank's
  std::vector<std::int32_t> place;   ///< by layer of the whole model: in `model`
  std::vector<std::int32_t> layers;  ///< by layer of `model`: in the whole model
  static constexpr std::int32_t none = -1;
};

/// @param whole with tied parameters on both ends
PartOfModel part_of(const Model& whole, const Pipeline& pipeline, int rank);

/// The model as a pipeline holds it: the output layer has a copy of the embedding that it shares.
Model with_tied_copies(const Model& model, const Pipeline& pipeline);

/// What the passes of a rank hold, turn by turn: those of micro-batches that are under way, and that of the
/// turn itself. @param whole of a micro-batch through all of the model, with its layers
StepMemory memory_of_turns(const StepMemory& whole, const PartOfModel& part,
                           const std::vector<StageTurn>& turns);

}  // namespace gradway
