// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

#include "sim/engine/schedule/flow_backend.hpp"
#include "sim/engine/schedule/path_table.hpp"
#include "sim/engine/schedule/side_table.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"

namespace gradway {

/// The state of an op. `held`: a collective that waits for kernels which leave no room on its GPUs (see
/// Contender).
enum class Progress : std::uint8_t { waits, queued, held, in_latency, in_flow, ended };

/// The part that both engines share: dependencies, queues and contention. A FlowBackend advances time.
///
/// Order of events at one date: first all ops that are due end, and ops without a queue that become ready
/// start; then every idle queue admits its first op by (date of readiness, id). This repeats until nothing
/// more happens. Only then are flows started and caps changed, so that the backend shares the resources once
/// per date.
class Scheduler {
 public:
  /// All arguments must outlive the scheduler.
  Scheduler(const OpGraph& graph, const PathTable& paths, FlowBackend& backend);

  /// The timer or flow of `op` has ended. Takes effect with the next `settle`.
  void due(OpId op) { due_.push_back(op); }
  /// Processes all events of `date`. The first call, with date zero and nothing due, starts the run.
  void settle(Seconds date);

  /// Whether all ops except endless ones have ended.
  bool all_ended() const { return ended_ + endless_.size() == graph_.size(); }
  /// Share of all ops that have ended, from 0 to 1.
  double share_ended() const { return static_cast<double>(ended_) / static_cast<double>(graph_.size()); }
  /// The dates of all ops. Leaves the scheduler empty.
  /// @throws SimulationError that names waiting ops if some have not ended
  Timeline take_timeline();

 private:
  struct Waiting {
    Seconds ready;
    std::uint32_t op;
    /// Comes after another one: ready later, or at the same date with a greater id.
    bool operator>(const Waiting& other) const {
      return ready > other.ready || (ready == other.ready && op > other.op);
    }
  };
  struct Queue {
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    std::uint32_t holder = Op::absent;
  };

  void make_ready(OpId op);
  void start(OpId op);
  void begin(OpId op);
  void release_held(OpId kernel);
  void end_holds(OpId until);
  void advance(OpId op);
  void end(OpId op);
  void turn_on_or_off(OpId op);
  bool serve_queues();
  void update_backend();

  const OpGraph& graph_;
  const PathTable& paths_;
  FlowBackend& backend_;
  Successors successors_;
  std::vector<std::uint32_t> waiting_;  ///< by op: predecessors that have not ended
  std::vector<Progress> progress_;
  std::vector<Queue> queues_;
  SideTable sides_;
  Timeline timeline_;
  Seconds now_{};
  bool begun_ = false;
  std::size_t ended_ = 0;
  std::size_t active_ = 0;  ///< ops that have begun and not ended, without endless ones
  std::vector<OpId> endless_;
  std::vector<bool> is_off_;  ///< by op: an endless flow pauses; empty without such flows
  std::vector<OpId> due_;
  std::vector<std::uint32_t> touched_queues_;  ///< queues that may admit an op
  std::vector<OpId> starting_flows_;
  std::unordered_map<std::uint32_t, std::vector<OpId>>
      held_by_;  ///< by kernel: collectives that wait for its end
  std::unordered_map<std::uint32_t, std::vector<OpId>> holds_;  ///< in flow, by the op that ends them
  std::unordered_map<std::uint32_t, std::size_t>
      holders_left_;  ///< by held collective: kernels that have not ended
};

/// Throws the SimulationError of a graph that cannot complete: the number of ops that never end, and a chain
/// of them, each with what it waits for. The chain is a cycle of ops that wait for each other, or it leads to
/// an op that stands still. Long chains are shortened in the middle.
/// @param holders by queue: the op that it serves, or Op::absent
/// @pre some op has not ended
[[noreturn]] void throw_stuck(const OpGraph& graph, const std::vector<Progress>& progress,
                              const std::vector<std::uint32_t>& holders);

}  // namespace gradway
