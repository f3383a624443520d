// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "sim/plan/pass_tasks.hpp"
#include "sim/plan/rank_passes.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// Work on a rank's gradients besides that of the strategy.
class StepGradients {
 public:
  /// @param model as the scenario has it, before it is split over ranks
  /// @param rank_part of the model on the rank; null if it holds the whole model. All arguments must outlive
  /// this.
  StepGradients(const Model& model, const ComputeCosts& costs, const RankScenario& rank,
                const RankPart* rank_part, Sync& sync, TaskList& tasks, PassTasks& passes)
      : whole_{model},
        costs_{costs},
        rank_{rank},
        part_{rank_part},
        sync_{sync},
        tasks_{tasks},
        passes_{passes} {}

  /// Adds gradients of a later micro-step to the accumulated ones. @param maker task that made them
  void accumulate(std::size_t first, std::size_t count, const Task& maker);
  /// Passes final gradients to the strategy, in the order that it expects: schedules may finish a later chunk
  /// last.
  void hand_over(std::size_t first, std::size_t count, const Task& maker);
  /// With sequence parallelism the gradients of norms, and of biases after a reduction, cover the rank's own
  /// tokens only. Megatron-Core reduces all of them in one call. DTensors of norms stay partial sums, which
  /// each of three optimizer kernels reduces (own traces of two H200).
  void reduce_replicated();
  /// PyTorch's schedules divide whole gradients by the number of micro-batches, with one kernel per
  /// parameter. With sharded gradients (torchtitan) the loss is divided instead. @source
  /// torch/distributed/pipelining/stage.py, scale_grads
  void average_micro_batches();

 private:
  /// Final gradients that the strategy does not expect yet.
  struct ReadyGradients {
    std::size_t first = 0;
    std::size_t count = 0;
    const Task* of = nullptr;
  };

  const Model& whole_;
  const ComputeCosts& costs_;
  const RankScenario& rank_;
  const RankPart* part_;
  Sync& sync_;
  TaskList& tasks_;
  PassTasks& passes_;
  std::vector<ReadyGradients> ready_;
  std::size_t handed_over_ = 0;  ///< number of gradients passed to the strategy
  std::vector<Bytes> sizes_;  ///< of gradients in the order in which they become ready; filled on first use
};

}  // namespace gradway
