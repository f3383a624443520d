// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/plan/task_list.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What a batch of a rank costs before it can be copied to the GPU.
struct BatchCost {
  Read stored{};                 ///< that storage serves: a worker makes one request after the other
  std::optional<Read> cached{};  ///< that the node has from an earlier epoch
  Seconds core{};                ///< of one core: to unpack, decode, transform and collate
  Seconds pinned{};              ///< ... to copy it into page-locked memory, in the training process
  Seconds gpu{};                 ///< to decode it there
  double spread = 0;             ///< of its bytes, and of what unpacks and decodes them, from batch to batch
  double core_share = 0;         ///< of `core` that follows the bytes
};

/// @return nothing where samples are in memory, ready
std::optional<BatchCost> batch_cost(const Scenario& scenario);

/// From an epoch's start until its first batches are asked for: the training process starts its workers one
/// after the other and does nothing else meanwhile. Workers that stay are asked to go on, which costs nothing
/// here. @source torch/utils/data/dataloader.py, PyTorch 2.11
Seconds start_of_workers(const InputSettings& input);

/// PyTorch's DataLoader, as its workers run it: batch k is made by worker k mod W, whatever the others do,
/// and begun when batch k - W f was taken, of W workers with a prefetch factor of f; batches are handed over
/// in their order. @source torch/utils/data/dataloader.py, PyTorch 2.11
class Loader {
 public:
  /// @param scenario must outlive this
  explicit Loader(const Scenario& scenario);

  /// Whether the training process waits for batches that workers, or itself, have to make.
  bool loads() const { return cost_.has_value(); }

  /// What the training process does when it wants its next batch. @param tasks of a rank
  /// @param batch of a step that accumulates several
  void take_batch(TaskList& tasks, int batch) const;
  /// Where the GPU decodes. @param after the batch is there. @return whether it does
  bool decode_batch(TaskList& tasks, const std::vector<TaskId>& after) const;

  /// Adds a program and, for each rank that takes batches, an actor that runs it: all of its workers.
  /// @pre the ranks are there
  void add_workers(Workload& workload) const;

 private:
  bool has_workers() const { return settings_.loader_workers > 0; }
  Program program() const;
  std::vector<Read> reads() const;
  Variation of_reads(int batch) const { return {.spread = cost_->spread, .draw = batch}; }
  Variation of_core(int batch) const {
    return {.spread = cost_->spread, .share = cost_->core_share, .draw = batch};
  }

  const Scenario& scenario_;
  const InputSettings& settings_;
  std::optional<BatchCost> cost_;
};

}  // namespace gradway
