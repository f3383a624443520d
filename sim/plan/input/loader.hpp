// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/plan/input/batch_cost.hpp"
#include "sim/plan/task_list.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Number of batches that a rank reads ahead into its node's cache. More change nothing in the steady state.
int batches_ahead(const InputSettings& input);

/// Time from the start of an epoch to the first requests for batches: the training process starts its workers
/// one after the other. Persistent workers continue at no cost. @source torch/utils/data/dataloader.py,
/// PyTorch 2.11
Seconds start_of_workers(const InputSettings& input);

/// The loader of a rank: PyTorch's DataLoader, or one whose threads share each batch (see
/// `thread_loader_program`). Of W workers with a prefetch factor of f, worker k mod W makes batch k, whatever
/// the others do, and begins it when batch k - W f was taken. Batches are delivered in order. @source
/// torch/utils/data/dataloader.py, PyTorch 2.11
///
/// With a prefetcher, workers find all samples in the cache of their node: batch after batch is read into it,
/// since the seed of the shuffling gives the order of samples, too. @source NoPFS, arXiv 2101.08734
class Loader {
 public:
  /// @param scenario must outlive this
  explicit Loader(const Scenario& scenario);

  /// Whether the training process waits for batches made by workers or by itself.
  bool loads() const { return cost_.has_value(); }

  /// Adds the tasks by which the training process gets its next batch. @param tasks of a rank
  /// @param batch number within the step
  void take_batch(TaskList& tasks, int batch) const;
  /// Adds decoding on the GPU. @param after tasks after which the batch is on the GPU @return whether the GPU
  /// decodes
  bool decode_batch(TaskList& tasks, const std::vector<TaskId>& after) const;

  /// Adds a program and, for each rank that takes batches, an actor that runs it for all of the rank's
  /// workers.
  /// @pre the workload has its ranks
  void add_workers(Workload& workload) const;

 private:
  bool has_workers() const { return settings_.loader_workers > 0; }
  Program program() const;
  std::vector<Read> reads() const;
  TaskId read_ahead(Program& program, int batch) const;
  Variation of_reads(int batch) const { return {.spread = cost_->spread, .draw = batch}; }
  Variation of_core(int batch) const {
    return {.spread = cost_->spread, .share = cost_->core_share, .draw = batch};
  }

  const Scenario& scenario_;
  const InputSettings& settings_;
  std::optional<BatchCost> cost_;
};

}  // namespace gradway
