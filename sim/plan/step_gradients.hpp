// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "sim/plan/pass_tasks.hpp"
#include "sim/plan/rank_passes.hpp"
#include "sim/plan/sync.hpp"

namespace gradway {

/// What becomes of a rank's gradients, beside what the strategy does with them.
class StepGradients {
 public:
  /// @param part that the rank holds; null: all of the model. All must outlive this.
  StepGradients(const Scenario& scenario, const ComputeCosts& costs, const RankScenario& rank,
                const RankPart* part, Sync& sync, TaskList& tasks, PassTasks& model)
      : scenario_{scenario},
        costs_{costs},
        rank_{rank},
        part_{part},
        sync_{sync},
        tasks_{tasks},
        model_{model} {}

  /// Gradients of a later micro-step are added to those that are there. @param of the task that made them
  void accumulate(std::size_t first, std::size_t count, const Task& of);
  /// Gradients are ready for good. The strategy learns of them in its order: schedules may end a later chunk
  /// last.
  void give(std::size_t first, std::size_t count, const Task& of);
  /// With sequence parallelism the gradients of norms, and of biases behind a sum over the ranks, are of
  /// their own tokens alone. Megatron-Core adds up all in one call. DTensors of norms stay partial sums,
  /// which each of three kernels of the optimizer adds up by itself (own traces of two H200).
  void reduce_replicated();
  /// PyTorch's schedules divide whole gradients by the number of micro-batches, a kernel a parameter; who
  /// shards them (torchtitan) divides the loss. @source torch/distributed/pipelining/stage.py, scale_grads
  void average_micro_batches();

 private:
  /// Gradients that are ready, whose turn has not come.
  struct Ready {
    std::size_t first = 0;
    std::size_t count = 0;
    const Task* of = nullptr;
  };

  const Scenario& scenario_;
  const ComputeCosts& costs_;
  const RankScenario& rank_;
  const RankPart* part_;
  Sync& sync_;
  TaskList& tasks_;
  PassTasks& model_;
  std::vector<Ready> ready_;
  std::size_t given_ = 0;     ///< gradients that the strategy has
  std::vector<Bytes> sizes_;  ///< of the gradients, in the order in which they get ready; filled when needed
};

}  // namespace gradway
