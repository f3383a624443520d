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

/// The pause before each kernel. Empty: only profiles have it.
std::optional<Seconds> pause_of(const ComputeCosts& costs, const Sync& sync);

/// A backward pass among those of its chunk.
struct BackwardPass {
  bool adds_to_gradients = false;
  bool is_last = false;  ///< that makes gradients of parameters
};

/// What a rank issues of the model, pass by pass. A rank that holds all of the model has one chunk.
class RankPasses {
 public:
  /// @param scenario, costs, sync, part must outlive this
  /// @param part that the rank holds; null: all of the model
  RankPasses(const Scenario& scenario, const ComputeCosts& costs, const Sync& sync, const RankPart* part);

  /// The model as the rank has it.
  const RankScenario& rank() const { return rank_; }
  const std::vector<ChunkPass>& turns() const { return turns_; }
  BackwardPass backward_pass(std::size_t turn) const { return passes_[turn]; }
  bool is_first_stage() const { return !part_ || part_->rank == 0; }

  // The model's tasks. A pass is read many times; the last reader may move them out.
  std::vector<ModelTask*>& forward(int chunk) { return forward_[static_cast<std::size_t>(chunk)]; }
  std::vector<ModelTask*>& backward(int chunk) { return backward_[static_cast<std::size_t>(chunk)]; }
  /// What of the block's forward pass runs again before its backward pass.
  std::vector<ModelTask*>& again(std::int32_t block) { return again_[static_cast<std::size_t>(block)]; }
  std::vector<ModelTask>& optimizer() { return model_.optimizer; }
  /// The copies of a batch; none where the rank takes no batch.
  const std::vector<Task>& batch() const { return batch_; }
  /// Number of the first gradient of a chunk, in the order of the rank's gradients.
  std::size_t first_gradient(int chunk) const { return first_gradient_[static_cast<std::size_t>(chunk)]; }

  /// The strategy knows the layers of its rank alone.
  std::int32_t layer_of_rank(std::int32_t layer) const;
  /// The strategy counts the blocks of its rank alone, too.
  Module of_rank(Module module) const;

 private:
  using TasksByNumber = std::vector<std::vector<ModelTask*>>;

  void find_passes();
  void find_tasks();
  void find_blocks_of_part();
  int chunk_of(const ModelTask& one) const;

  const Scenario& scenario_;
  const RankPart* part_;
  RankScenario rank_;
  std::optional<Blocks> blocks_;  ///< of the whole, if they matter, and the strategy has not found them
  std::vector<std::int32_t> block_of_rank_;  ///< by block of the whole: among those of the rank
  ModelTasks model_;
  std::vector<ChunkPass> turns_;
  std::vector<BackwardPass> passes_;         ///< by turn
  TasksByNumber forward_;                    ///< of the model, by chunk
  TasksByNumber backward_;                   ///< of the model, by chunk
  TasksByNumber again_;                      ///< what runs again, by block
  std::vector<std::size_t> first_gradient_;  ///< by chunk
  std::vector<Task> batch_;
};

}  // namespace gradway
