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

/// How far an op has come.
enum class Progress : std::uint8_t { waits, queued, held, in_latency, in_flow, ended };

/// What both engines share: what is ready, whose turn it is in a queue, who slows whom. Knows nothing of how
/// time passes; a FlowBackend does.
///
/// The order at one date: first all that is over and all that follows from it without a queue; then every
/// idle queue lets in the op that comes first by (date of readiness, id); and again, until nothing more
/// happens. Only then are flows started and caps changed, so that the backend shares the resources once for
/// each date.
class Scheduler {
 public:
  /// The three must outlive the scheduler.
  Scheduler(const OpGraph& graph, const PathTable& paths, FlowBackend& backend);

  /// The timer or the flow of `op` is over. Takes effect with the next `settle`.
  void due(OpId op) { due_.push_back(op); }
  /// Does all that happens at the date `now`. The first call, with date zero and nothing due, starts the run.
  void settle(Seconds now);

  /// All but endless ops have.
  bool all_ended() const { return ended_ + endless_.size() == graph_.size(); }
  /// Of all ops, from 0 to 1.
  double share_ended() const { return static_cast<double>(ended_) / static_cast<double>(graph_.size()); }
  /// The dates of all ops; leaves the scheduler empty.
  /// @throws SimulationError that names ops that wait, if some have not ended
  Timeline take_timeline();

 private:
  struct Waiting {
    Seconds ready;
    std::uint32_t op;
    auto operator<=>(const Waiting&) const = default;
  };
  struct Queue {
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    std::uint32_t holder = Op::absent;
  };

  void make_ready(OpId op);
  void start(OpId op);
  void begin(OpId op);
  void let_in_after(OpId kernel);
  void advance(OpId op);
  void end(OpId op);
  bool serve_queues();
  void tell_backend();

  const OpGraph& graph_;
  const PathTable& paths_;
  FlowBackend& backend_;
  Successors successors_;
  std::vector<std::uint32_t> waiting_;  ///< by op: how many it still waits for
  std::vector<Progress> progress_;
  std::vector<Queue> queues_;
  SideTable sides_;
  Timeline timeline_;
  Seconds now_{};
  bool begun_ = false;
  std::size_t ended_ = 0;
  std::vector<OpId> endless_;
  std::vector<OpId> due_;
  std::vector<std::uint32_t> touched_queues_;  ///< those that may let someone in
  std::vector<OpId> starting_flows_;
  std::unordered_map<std::uint32_t, std::vector<OpId>>
      held_by_;  ///< by kernel: the collectives that wait for its end
  std::unordered_map<std::uint32_t, std::size_t> holders_left_;  ///< by collective that is held
};

}  // namespace gradway
