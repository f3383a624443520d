// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "sim/engine/fluid/date_heap.hpp"
#include "sim/engine/fluid/max_min.hpp"
#include "sim/engine/schedule/flow_backend.hpp"
#include "sim/engine/schedule/path_table.hpp"

namespace gradway {

/// Timers, and flows with their dates of completion at current rates. A flow is updated only when its rate
/// changes.
class FluidClock final : public FlowBackend {
 public:
  /// @param paths must outlive the clock @param ops number of ops of the graph
  FluidClock(const PathTable& paths, std::size_t ops);

  void start_timer(OpId op, Seconds date) override;
  void start_flow(OpId op, const FlowStart& flow) override;
  void set_cap(OpId op, double cap) override;

  /// The date of the next event, or infinite if there is none. Shares the resources first if flows changed.
  Seconds next();
  /// Advances to a date and calls `over` with each op whose timer or flow ends then.
  /// @pre the date is `next()`, and finite
  template <class Over>
  void advance(Seconds date, Over over) {
    now_ = date;
    const Seconds last = now_ + now_ * same_date;
    while (!timers_.empty() && timers_.top().date <= last) over(pop_timer());
    while (!completions_.empty() && completions_.top_date() <= last) over(pop_flow());
  }
  Seconds now() const { return now_; }

 private:
  struct ActiveFlow {
    double left = 0;  ///< amount left at the date `since`
    double rate = 0;
    Seconds since{};
    std::uint32_t op = 0;
  };
  struct Timer {
    Seconds date;
    std::uint32_t op;
    /// Comes after another one: later, or at the same date with a greater id.
    bool operator>(const Timer& other) const {
      return date > other.date || (date == other.date && op > other.op);
    }
  };

  OpId pop_timer();
  OpId pop_flow();
  void share();

  const PathTable& paths_;
  MaxMin shares_;
  Seconds now_{};
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  DateHeap completions_;            ///< by slot
  std::vector<ActiveFlow> flows_;   ///< by slot
  std::vector<MaxMin::Slot> slot_;  ///< by op
  bool stale_ = false;              ///< flows changed since the resources were last shared
};

}  // namespace gradway
