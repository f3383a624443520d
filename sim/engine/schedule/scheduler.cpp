// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/schedule/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradway {

Scheduler::Scheduler(const OpGraph& graph, const PathTable& paths, FlowBackend& backend)
    : graph_{graph},
      paths_{paths},
      backend_{backend},
      successors_{graph},
      waiting_{successors_.take_predecessor_counts()},
      progress_(graph.size(), Progress::waits),
      queues_(graph.queues().size()),
      sides_{graph},
      timeline_{std::vector<Seconds>(graph.size()), std::vector<Seconds>(graph.size())} {
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (graph.op(OpId{i}).is_endless()) endless_.push_back(OpId{i});
  const bool any_pauses = std::ranges::any_of(endless_, [&](OpId id) { return graph.op(id).on > Seconds{}; });
  if (any_pauses) is_off_.resize(graph.size(), false);
}

void Scheduler::settle(Seconds date) {
  now_ = date;
  if (!std::exchange(begun_, true)) {
    for (std::size_t i = 0; i < graph_.size(); ++i)
      if (waiting_[i] == 0) make_ready(OpId{i});
  }
  do {
    while (!due_.empty()) {
      const OpId op = due_.back();
      due_.pop_back();
      advance(op);
    }
  } while (!touched_queues_.empty() && serve_queues());
  if (!starting_flows_.empty() || !sides_.changes().empty()) update_backend();
}

Timeline Scheduler::take_timeline() {
  for (const OpId id : endless_) {
    progress_[id.index()] = Progress::ended;
    timeline_.end[id.index()] = now_;
  }
  if (!all_ended()) {
    std::vector<std::uint32_t> holders;
    for (const Queue& queue : queues_) holders.push_back(queue.holder);
    throw_stuck(graph_, progress_, holders);
  }
  return std::move(timeline_);
}

void Scheduler::make_ready(OpId op) {
  const std::uint32_t queue = graph_.op(op).queue;
  if (queue == Op::absent) return start(op);
  progress_[op.index()] = Progress::queued;
  queues_[queue].waiting.push({now_, static_cast<std::uint32_t>(op.index())});
  touched_queues_.push_back(queue);
}

void Scheduler::start(OpId id) {
  if (!sides_.can_be_held(id)) return begin(id);
  const auto holders = sides_.holders(id, now_);
  if (holders.empty()) return begin(id);
  progress_[id.index()] = Progress::held;
  holders_left_[static_cast<std::uint32_t>(id.index())] = holders.size();
  for (const OpId holder : holders) held_by_[static_cast<std::uint32_t>(holder.index())].push_back(id);
}

/// A kernel has ended: collectives that waited for it alone begin.
void Scheduler::release_held(OpId kernel) {
  const auto held = held_by_.extract(static_cast<std::uint32_t>(kernel.index()));
  if (held.empty()) return;
  for (const OpId id : held.mapped()) {
    const auto holders = holders_left_.find(static_cast<std::uint32_t>(id.index()));
    if (--holders->second > 0) continue;
    holders_left_.erase(holders);
    begin(id);
  }
}

void Scheduler::begin(OpId id) {
  const Op& op = graph_.op(id);
  timeline_.start[id.index()] = now_;
  if (!op.is_endless()) ++active_;
  if (op.kind == OpKind::hold && progress_[op.until] != Progress::ended) {
    progress_[id.index()] = Progress::in_flow;
    sides_.enter(id, now_);
    holds_[op.until].push_back(id);
    return;
  }
  progress_[id.index()] = Progress::in_latency;
  if (op.kind == OpKind::join || op.latency == Seconds{0}) return due(id);
  backend_.start_timer(id, now_ + op.latency);
}

void Scheduler::end_holds(OpId until) {
  const auto ended = holds_.extract(static_cast<std::uint32_t>(until.index()));
  if (ended.empty()) return;
  for (const OpId hold : ended.mapped()) end(hold);
}

/// The latency or the flow of the op has ended.
void Scheduler::advance(OpId id) {
  const Op& op = graph_.op(id);
  if (op.is_endless() && progress_[id.index()] == Progress::in_flow) return turn_on_or_off(id);
  if (op.kind != OpKind::flow || progress_[id.index()] == Progress::in_flow || op.amount == 0) return end(id);
  if (std::isinf(op.cap) && paths_.uses(op.path).empty()) return end(id);
  progress_[id.index()] = Progress::in_flow;
  sides_.enter(id, now_);
  if (paths_.blocked(op.path)) return;
  starting_flows_.push_back(id);
  if (op.on > Seconds{}) backend_.start_timer(id, now_ + op.on);
}

/// An endless flow pauses, or continues after a pause. It does so as long as other ops are under way, so that
/// a graph which cannot complete comes to an end.
void Scheduler::turn_on_or_off(OpId id) {
  constexpr double of_pauses = 1e-9;  // of its cap, since rates are positive
  if (active_ == 0) return;
  const Op& op = graph_.op(id);
  const bool is_off = !is_off_[id.index()];
  is_off_[id.index()] = is_off;
  backend_.set_cap(id, is_off ? op.cap * of_pauses : op.cap);
  if (op.period > Seconds{}) backend_.start_timer(id, now_ + (is_off ? op.period - op.on : op.on));
}

void Scheduler::end(OpId id) {
  const Op& op = graph_.op(id);
  if (progress_[id.index()] == Progress::in_flow) {
    sides_.leave(id);
    if (!held_by_.empty()) release_held(id);
  }
  progress_[id.index()] = Progress::ended;
  timeline_.end[id.index()] = now_;
  ++ended_;
  --active_;
  if (!holds_.empty()) end_holds(id);
  if (op.queue != Op::absent) {
    queues_[op.queue].holder = Op::absent;
    touched_queues_.push_back(op.queue);
  }
  for (const OpId next : successors_.of(id))
    if (--waiting_[next.index()] == 0) make_ready(next);
}

/// @return whether an op was admitted
bool Scheduler::serve_queues() {
  bool served = false;
  for (const std::uint32_t index : touched_queues_) {
    Queue& queue = queues_[index];
    if (queue.holder != Op::absent || queue.waiting.empty()) continue;
    queue.holder = queue.waiting.top().op;
    queue.waiting.pop();
    start(OpId{queue.holder});  // touches no queue: the op ends, at the earliest, in the next round
    served = true;
  }
  touched_queues_.clear();
  return served;
}

void Scheduler::update_backend() {
  for (const OpId id : starting_flows_) {
    const Op& op = graph_.op(id);
    backend_.start_flow(id, {op.path, op.amount, op.weight, sides_.cap(id)});
  }
  starting_flows_.clear();
  for (const OpId op : sides_.changes()) {
    if (progress_[op.index()] == Progress::in_flow && !paths_.blocked(graph_.op(op).path)) {
      backend_.set_cap(op, sides_.cap(op));
    }
  }
  sides_.forget_changes();
}

}  // namespace gradway
