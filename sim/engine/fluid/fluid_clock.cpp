// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/fluid/fluid_clock.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {

namespace {

/// Relative change below which a rate counts as unchanged: it differs by rounding only.
constexpr double same_rate = 1e-14;

}  // namespace

FluidClock::FluidClock(const PathTable& paths, std::size_t ops)
    : paths_{paths}, shares_{paths.capacities(), paths.longest()}, slot_(ops) {}

void FluidClock::start_timer(OpId op, Seconds date) {
  timers_.push({date, static_cast<std::uint32_t>(op.index())});
}

void FluidClock::start_flow(OpId op, const FlowStart& flow) {
  const MaxMin::Slot slot = shares_.add(paths_.uses(flow.path), flow.weight, flow.cap);
  if (slot >= flows_.size()) flows_.resize(slot + 1);
  flows_[slot] = {flow.amount, 0, now_, static_cast<std::uint32_t>(op.index())};
  slot_[op.index()] = slot;
  stale_ = true;
}

void FluidClock::set_cap(OpId op, double cap) {
  const MaxMin::Slot slot = slot_[op.index()];
  if (shares_.cap(slot) == cap) return;
  shares_.set_cap(slot, cap);
  stale_ = true;
}

Seconds FluidClock::next() {
  if (stale_) share();
  Seconds date = Seconds::infinite();
  if (!timers_.empty()) date = std::min(date, timers_.top().date);
  if (!completions_.empty()) date = std::min(date, completions_.top_date());
  return std::max(date, now_);
}

OpId FluidClock::pop_timer() {
  const OpId op{timers_.top().op};
  timers_.pop();
  return op;
}

OpId FluidClock::pop_flow() {
  const MaxMin::Slot slot = completions_.top();
  completions_.remove(slot);
  shares_.remove(slot);
  stale_ = true;
  return OpId{flows_[slot].op};
}

void FluidClock::share() {
  stale_ = false;
  for (const MaxMin::Slot slot : shares_.solve()) {
    ActiveFlow& flow = flows_[slot];
    const double rate = shares_.rate(slot);
    if (std::abs(rate - flow.rate) <= same_rate * flow.rate) continue;
    flow.left = std::max(0.0, flow.left - flow.rate * (now_ - flow.since).value());
    flow.rate = rate;
    flow.since = now_;
    // A rate of zero gives an infinite date.
    completions_.set(slot, now_ + Seconds{flow.left / rate});
  }
}

}  // namespace gradway
