// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/pipeline/exchanges.hpp"
#include "sim/plan/sync.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The pause before each kernel. Empty without a profile.
std::optional<Seconds> pause_of(const ComputeCosts& costs, const Sync& sync);

/// Position of a backward pass among the backward passes of its chunk.
struct BackwardPass {
  bool adds_to_gradients = false;
  bool is_last = false;  ///< last pass that makes gradients of parameters
};

/// The model's tasks of a rank, pass by pass. A rank that holds the whole model has one chunk.
class RankPasses {
 public:
  /// @param scenario, costs, sync, rank_part must outlive this
  /// @param rank_part of the model on the rank; null if it holds the whole model
  RankPasses(const Scenario& scenario, const ComputeCosts& costs, const Sync& sync,
             const RankPart* rank_part);

  /// The model part of the rank.
  const RankScenario& rank() const { return rank_; }
  const std::vector<ChunkPass>& turns() const { return turns_; }
  BackwardPass backward_pass(std::size_t turn) const { return passes_[turn]; }
  bool is_first_stage() const { return !part_ || part_->rank == 0; }

  // The model's tasks. A pass is read several times; its last reader may move them out.
  std::vector<ModelTask*>& forward(int chunk) { return forward_[static_cast<std::size_t>(chunk)]; }
  std::vector<ModelTask*>& backward(int chunk) { return backward_[static_cast<std::size_t>(chunk)]; }
  /// Tasks of the block's forward pass that are recomputed before its backward pass.
  std::vector<ModelTask*>& recomputed(std::int32_t block) {
    return recomputed_[static_cast<std::size_t>(block)];
  }
  /// Whether kernels run in the backward pass of a block. They do not in frozen blocks, which no checkpoint
  /// repeats either.
  bool has_backward(std::int32_t block) const {
    return backward_launches_[static_cast<std::size_t>(block)] > 0;
  }
  std::vector<ModelTask>& optimizer() { return optimizer_; }
  /// The copies of a batch; empty if the rank takes no batches.
  const std::vector<Task>& batch() const { return batch_; }
  /// Index of the first gradient of a chunk among the rank's gradients.
  std::size_t first_gradient(int chunk) const { return first_gradient_[static_cast<std::size_t>(chunk)]; }

  /// Number of a layer within the rank, as the strategy numbers layers.
  std::int32_t layer_of_rank(std::int32_t layer) const;
  /// Module with its block number within the rank, as the strategy numbers blocks.
  Module of_rank(Module module) const;

 private:
  using TasksByNumber = std::vector<std::vector<ModelTask*>>;

  void make_tasks(const ComputeCosts& costs, const Sync& sync);
  void find_passes();
  void find_tasks();
  void find_blocks_of_part();
  int chunk_of(const ModelTask& model_task) const;

  const Scenario& scenario_;
  const RankPart* part_;
  RankScenario rank_;
  std::optional<Blocks> own_blocks_;  ///< of a rank that holds the whole model, likewise
  const Blocks* blocks_;  ///< of the whole model, if they are needed and the strategy has none; or null
  std::vector<std::int32_t> block_of_rank_;  ///< by block of the whole model: block number within the rank
  ModelTasks own_tasks_;                     ///< of a rank that holds the whole model
  ModelTasks& model_;
  std::vector<ModelTask> optimizer_;
  std::vector<ChunkPass> turns_;
  std::vector<BackwardPass> passes_;         ///< by turn
  TasksByNumber forward_;                    ///< of the model, by chunk
  TasksByNumber backward_;                   ///< of the model, by chunk
  TasksByNumber recomputed_;                 ///< recomputed tasks, by block
  std::vector<int> backward_launches_;       ///< by block
  std::vector<std::size_t> first_gradient_;  ///< by chunk
  std::vector<Task> batch_;
};

}  // namespace gradway
