// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/plan/input/loader.hpp"
#include "sim/plan/task_list.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Copies of batches to a rank's GPU: each in its own step on the compute stream, or by a prefetcher as in
/// PyTorch programs:
///
///     torch.cuda.current_stream().wait_stream(copies)           # the batch that was copied before
///     batch, following = following, next(loader)
///     copies.wait_stream(torch.cuda.current_stream())           # prefetch: step; left out: ahead
///     with torch.cuda.stream(copies):
///         following = following.to(device, non_blocking=True)   # forward: all of this after model(batch)
///
/// It also adds background copies during a step, which the next step uses.
class InputCopies {
 public:
  /// @param scenario, tasks must outlive this
  InputCopies(const Scenario& scenario, TaskList& tasks);

  bool prefetches() const { return input_.prefetch.has_value(); }

  /// At the start of a step, before all other tasks.
  void begin_step();
  /// Before the forward pass of a rank that takes batches. @param batch copies of one batch
  /// @return tasks that the pass waits for
  std::vector<TaskId> before_forward(int micro_batch, const std::vector<Task>& batch);
  /// Before the first kernel of a pass and after the copies of its batch, on every rank.
  void before_kernels(int micro_batch);
  /// After the pass, on every rank. @param batch empty if the rank takes no batches
  void after_forward(int micro_batch, const std::vector<Task>& batch);

 private:
  void background_copy();
  void fetch_next(int micro_batch, const std::vector<Task>& batch);
  void copy_in_background(Task task, CopyStart start);

  const InputSettings& input_;
  int batches_;  ///< per step
  TaskList& tasks_;
  Loader loader_;
  std::vector<TaskId> copied_;  ///< copies of the next batch of this step
};

}  // namespace gradway
