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

/// Adds the model's tasks to a rank's program, with what each waits for: exchanges of its own pass, and
/// results of other ranks.
class PassTasks {
 public:
  /// Adds a stream for each group of ranks that share the part. @param part, tasks must outlive this
  PassTasks(const Layout& layout, const RankPart* part, TaskList& tasks);

  /// A task of the model. On a pipeline the kernels of a block are one task but for the first, which the GPU
  /// begins while the CPU issues the others: a step has too many micro-batches to tell all apart.
  void add(ModelTask& one, bool for_good);
  /// Makes a kernel part of the last one.
  void merge(const Task& task);
  /// The next kernel waits for it, besides its own exchanges.
  void wait_for(TaskId task) { due_.push_back(task); }
  /// A task is left out of the pass that waits for so many exchanges: the next kernel does.
  void skip(int waits) { skipped_ += waits; }
  void begin_pass_back() { skipped_ = 0; }
  /// Exchanges that no task waited for are waited for by the next pass.
  void end_pass();
  /// A kernel of no block, on which all that follows waits.
  void set_computed(TaskId kernel);

  /// All that must have ended before the results of the pass are there.
  std::vector<TaskId> results() const;
  StreamId stream(RankGroup group) const { return streams_[static_cast<std::size_t>(group)]; }

 private:
  void send(Task task, RankGroup over);

  const RankPart* part_;
  TaskList& tasks_;
  bool is_pipeline_;
  std::optional<TaskId> computed_;  ///< the model's last kernel
  std::int32_t block_ = Blocks::none;
  bool is_rest_ = false;  ///< the last kernel is not its block's first
  /// By `RankGroup`.
  std::vector<StreamId> streams_ = std::vector<StreamId>(rank_group_words.size(), StreamId{0});
  std::deque<TaskId> sent_;  ///< to the ranks that share the layers, and no task waited for it
  int skipped_ = 0;          ///< of them, that a half of the backward pass left out waits for
  std::vector<TaskId> due_;  ///< of passes before; the next kernel waits for it
};

}  // namespace gradway
