// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/graph/workload.hpp"

namespace gradway {

/// A task as all who run its program lay it. Tasks are counted over all steps.
struct Turn {
  const Task* task = nullptr;
  std::size_t number = 0;
  Origin origin{};                           ///< but for the actor
  bool is_launched = false;                  ///< the CPU's part is an op
  std::vector<std::size_t> before_launch{};  ///< tasks that the CPU waits for
  std::optional<std::size_t> before{};       ///< the task before it on its stream, if that runs in order
  std::vector<std::size_t> copied_before{};  ///< the prefetches that it uses
  std::size_t of_slot = 0;                   ///< number of the call, put or take among those of its slot
};

/// The tasks of a program in turn, step by step: who waits for whom is the same for all who run it.
class Turns {
 public:
  /// @param program must outlive this
  Turns(const Program& program, ProgramId id);

  const Program& program() const { return *program_; }
  void begin_step() { wanted_ = std::exchange(prefetches_, {}); }
  /// The next task of a step.
  void take(std::size_t index, int step);
  /// The one that was taken last.
  const Turn& last() const { return turn_; }

  /// Of kernels: equal ones have equal numbers. @return by task of a step
  const std::vector<std::size_t>& footprints() const { return footprints_; }
  std::size_t kinds_of_footprints() const { return kinds_of_footprints_; }

 private:
  void launch();
  void next_server(StreamId stream);

  const Program* program_;
  ProgramId id_;
  Turn turn_;
  std::vector<std::optional<std::size_t>> streams_;      ///< the last task of each
  std::map<StreamId, std::deque<std::size_t>> servers_;  ///< the last tasks of those whose turn it is not
  std::vector<std::size_t> waits_;                       ///< the CPU issues nothing before these have ended
  std::deque<std::pair<std::size_t, int>> in_queue_;  ///< what the compute stream got last, and its launches
  int queued_ = 0;                                    ///< launches in it
  std::vector<std::size_t> prefetches_;  ///< copies beside the current step: the next one uses them
  std::vector<std::size_t> wanted_;      ///< those of the step before, until the step waits for them
  std::map<Slot, std::size_t> calls_;    ///< made so far
  std::map<Slot, std::size_t> puts_;
  std::map<Slot, std::size_t> takes_;
  std::vector<std::size_t> footprints_;
  std::size_t kinds_of_footprints_ = 0;
};

}  // namespace gradway
