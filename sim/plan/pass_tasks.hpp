// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/plan/model_tasks.hpp"
#include "sim/plan/pipeline/exchanges.hpp"
#include "sim/plan/task_list.hpp"

namespace gradway {

/// Adds the model's tasks to a rank's program, with their dependencies on exchanges of the same pass and on
/// results of other ranks.
class PassTasks {
 public:
  /// Adds a stream for each group of ranks that share the model part. @param rank_part, tasks must outlive
  /// this
  PassTasks(const Layout& layout, const RankPart* rank_part, TaskList& tasks);

  /// Adds a task of the model. In a pipeline the kernels of a block become one task except the first, which
  /// starts while the CPU issues the others: a step has too many micro-batches to keep all tasks apart.
  void add(ModelTask& model_task, bool for_good);
  /// Makes a kernel part of the last one.
  void merge(const Task& task);
  /// The next kernel also waits for this task.
  void wait_for(TaskId task) { due_.push_back(task); }
  /// Leaves out a task that waits for a number of exchanges: the next kernel waits for them.
  void skip(int waits) { skipped_ += waits; }
  void begin_backward_pass() { skipped_ = 0; }
  /// Ends the pass. The next pass waits for exchanges that no task has waited for.
  void end_pass();
  /// A kernel outside of blocks on which all later tasks depend.
  void set_computed(TaskId kernel);

  /// Tasks that must have ended before the results of the pass are complete.
  std::vector<TaskId> results() const;
  StreamId stream(RankGroup group) const { return streams_[static_cast<std::size_t>(group)]; }

 private:
  void send(Task task, RankGroup over);

  const RankPart* part_;
  TaskList& tasks_;
  bool is_pipeline_;
  std::optional<TaskId> computed_;  ///< the model's last kernel
  std::int32_t block_ = Blocks::none;
  bool is_rest_ = false;  ///< whether the last kernel is not the first of its block
  /// Streams by `RankGroup`.
  std::vector<StreamId> streams_ = std::vector<StreamId>(rank_group_words.size(), StreamId{0});
  std::deque<TaskId> sent_;  ///< exchanges with ranks that share layers, which no task has waited for
  int skipped_ = 0;          ///< exchanges that a task left out of this half of the backward pass waits for
  std::vector<TaskId> due_;  ///< exchanges of earlier passes that the next kernel waits for
};

}  // namespace gradway
