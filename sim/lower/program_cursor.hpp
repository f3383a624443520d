// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/graph/workload.hpp"

namespace gradway {

/// A task in one step, with what it waits for. Tasks are numbered over all steps.
struct TaskInstance {
  const Task* task = nullptr;
  std::size_t number = 0;
  Origin origin{};                          ///< without the actor
  bool is_launched = false;                 ///< whether its launch is an op
  std::vector<std::size_t> launch_after{};  ///< tasks that its launch waits for
  std::optional<std::size_t> previous{};    ///< task before it on its stream, if the stream runs in order
  std::vector<std::size_t> prefetches{};    ///< prefetches of the step before that it uses
  std::size_t count_at_slot = 0;  ///< calls, puts or takes of its communicator or channel before this one
};

/// Walks through the tasks of a program step by step. All actors that run the program share the dependencies
/// that it finds.
class ProgramCursor {
 public:
  /// @param program must outlive this
  ProgramCursor(const Program& program, ProgramId id);

  const Program& program() const { return *program_; }
  void begin_step() { due_prefetches_ = std::exchange(prefetches_, {}); }
  /// @pre tasks of a step are visited in order
  void advance(std::size_t index, int step);
  const TaskInstance& current() const { return current_; }

  /// By task of a step: a number that is the same for kernels with equal footprints.
  const std::vector<std::size_t>& footprints() const { return footprints_; }
  std::size_t footprint_count() const { return footprint_count_; }

 private:
  struct TaskFacts {
    Activity activity;
    Lane lane;
    bool is_background_copy;
  };

  void launch();
  void take_server(StreamId stream);

  const Program* program_;
  ProgramId id_;
  TaskInstance current_;
  std::vector<std::optional<std::size_t>> streams_;           ///< the last task of each
  std::map<StreamId, std::deque<std::size_t>> busy_servers_;  ///< the last tasks of a stream's other servers
  std::vector<std::size_t> host_waits_;  ///< tasks that must end before the CPU launches anything
  std::deque<std::pair<std::size_t, int>> launch_queue_;  ///< last tasks of the compute stream with launches
  int queued_launches_ = 0;
  std::vector<std::size_t> prefetches_;      ///< of the current step, for the next one
  std::vector<std::size_t> due_prefetches_;  ///< of the step before, until a task has waited for them
  std::map<Slot, std::size_t> calls_;        ///< so far
  std::map<Slot, std::size_t> puts_;
  std::map<Slot, std::size_t> takes_;
  std::vector<TaskFacts> facts_;  ///< by task of a step
  std::vector<std::size_t> footprints_;
  std::size_t footprint_count_ = 0;
};

}  // namespace gradway
