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

/// Number of units of a model that can be distributed over stages: its blocks, or the layers of a model with
/// explicit times.
int pipeline_units(const Model& model);

/// The stage of each layer. Stages have the blocks of the pipeline's layout, or the same number of blocks;
/// layers before the first block are on the first stage, layers after the last block on the last one.
/// Remaining blocks go to the stages after the first, which has the embedding; the last has the loss.
/// @pre the layout has `pipeline_units` blocks; without a layout there are at least as many as stages
std::vector<int> stages_of_layers(const Model& model, const Pipeline& pipeline);

/// A transfer between two pipeline ranks: activations forward, or their gradients backward.
struct StageHop {
  int from = 0;  ///< ranks of the pipeline
  int to = 0;
  bool is_backward = false;
  auto operator<=>(const StageHop&) const = default;
};

/// All transfers of a pipeline, without duplicates.
std::vector<StageHop> hops_of(const Pipeline& pipeline);

/// The part of a model that a pipeline rank holds.
struct ModelShard {
  Model model;                       ///< with the layers of this rank only
  std::vector<std::int32_t> chunk;   ///< by layer of the whole model; none: on another rank
  std::vector<std::int32_t> place;   ///< by layer of the whole model: index in `model`
  std::vector<std::int32_t> layers;  ///< by layer of `model`: index in the whole model
  static constexpr std::int32_t none = -1;
};

/// The model as a pipeline holds it: the output layer has its own copy of a tied embedding.
Model with_tied_copies(Model model, const Pipeline& pipeline);

/// A model and how a pipeline divides it.
class StagedModel {
 public:
  /// @param model with its tied parameters on both ends
  StagedModel(Model model, Pipeline pipeline);

  const Pipeline& pipeline() const { return pipeline_; }
  const Model& model() const { return model_; }
  /// The stage of each layer.
  const std::vector<int>& stages() const { return stages_; }
  ModelShard part_of(int rank) const;

 private:
  Pipeline pipeline_;
  Model model_;
  Model without_layers_;
  std::vector<int> stages_;
};

/// Memory of a rank by turn: of the micro-batches in flight, and of the turn itself. Megatron frees the
/// output of a stage once it is sent, PyTorch and DeepSpeed after its backward pass. @param whole_memory
/// memory of one micro-batch through the whole model, by layer
/// @source deallocate_output_tensor in Megatron-Core, pipeline_parallel/schedules.py; fwd_cache in
/// torch/distributed/pipelining/stage.py, PyTorch 2.11; pipe_buffers in deepspeed/runtime/pipe/engine.py
StepMemory memory_of_passes(const StepMemory& whole_memory, const ModelShard& shard,
                            const std::vector<ChunkPass>& turns, Framework framework);

}  // namespace gradway
