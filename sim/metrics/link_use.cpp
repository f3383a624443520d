// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/link_use.hpp"

#include <algorithm>
#include <tuple>

#include "sim/engine/fluid/max_min.hpp"
#include "sim/engine/schedule/flow_backend.hpp"
#include "sim/engine/schedule/path_table.hpp"
#include "sim/engine/schedule/side_table.hpp"

namespace gradway {
namespace {

/// A flow starts to share, or ends.
struct Event {
  Seconds date;
  bool begins;
  std::uint32_t op;
};

/// Replays the flows of a timeline and records the use of the watched resources.
class Replay {
 public:
  Replay(const Platform& platform, const OpGraph& graph, const Timeline& timeline,
         const std::vector<ResourceId>& resources)
      : graph_{graph},
        timeline_{timeline},
        paths_{platform, graph},
        shares_{paths_.capacities(), paths_.longest()},
        sides_{graph},
        slots_(graph.size(), nowhere),
        watched_(paths_.capacities().size(), nowhere),
        now_using_(resources.size()),
        is_stale_(resources.size(), false),
        changes_(resources.size()) {
    for (std::size_t i = 0; i < resources.size(); ++i) {
      if (const auto number = paths_.number(resources[i])) watched_[*number] = static_cast<std::uint32_t>(i);
    }
    for (std::uint32_t i = 0; i < paths_.capacities().size(); ++i)
      is_shared_.push_back(platform.resources[paths_.resource(i).index()].kind != ResourceKind::gpu);
  }

  std::vector<std::vector<UseChange>> run() {
    const auto sorted_events = events();
    for (auto next = sorted_events.begin(); next != sorted_events.end();) {
      const auto date = next->date;
      const auto last = date + date * same_date;
      for (; next != sorted_events.end() && next->date <= last; ++next)
        next->begins ? begin(*next) : end(*next);
      share();
      note(date);
    }
    return std::move(changes_);
  }

 private:
  static constexpr std::uint32_t nowhere = UINT32_MAX;

  struct User {
    std::uint32_t op;
    std::uint32_t times;  ///< that its path names the resource
  };

  /// Events of the flows on links, and of kernels and holds, which contend with them or with each other.
  std::vector<Event> events() const {
    std::vector<Event> flow_events;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const Op& op = graph_.ops()[i];
      const bool moves = op.kind == OpKind::flow && op.amount > 0;
      if (!moves && op.kind != OpKind::hold) continue;
      if (op.contender == Op::absent && !is_on_links(op)) continue;
      const auto index = static_cast<std::uint32_t>(i);
      if (op.on > Seconds{}) {
        add_turns(flow_events, op, index);
        continue;
      }
      flow_events.push_back({timeline_.start[i] + op.latency, true, index});
      flow_events.push_back({std::max(timeline_.end[i], flow_events.back().date), false, index});
    }
    std::ranges::sort(flow_events, [](const Event& a, const Event& b) {
      return std::tuple{a.date, !a.begins, a.op} < std::tuple{b.date, !b.begins, b.op};
    });
    return flow_events;
  }

  /// The times in which an endless flow does not pause.
  void add_turns(std::vector<Event>& flow_events, const Op& op, std::uint32_t index) const {
    const auto end = timeline_.end[index];
    for (auto from = timeline_.start[index] + op.latency; from < end; from += op.period) {
      flow_events.push_back({from, true, index});
      flow_events.push_back({std::min(from + op.on, end), false, index});
      if (op.period == Seconds{}) return;
    }
  }

  bool is_on_links(const Op& op) const {
    return op.kind == OpKind::flow && std::ranges::any_of(paths_.uses(op.path), [&](const auto& use) {
             return is_shared_[use.resource];
           });
  }

  void begin(const Event& event) {
    const Op& op = graph_.ops()[event.op];
    sides_.enter(OpId{event.op}, event.date);
    if (!is_on_links(op)) return;
    const auto slot = shares_.add(paths_.uses(op.path), op.weight, sides_.cap(OpId{event.op}));
    slots_[event.op] = slot;
    if (slot >= in_slot_.size()) in_slot_.resize(slot + 1);
    in_slot_[slot] = event.op;
    for (const auto& use : paths_.uses(op.path)) {
      if (watched_[use.resource] != nowhere)
        now_using_[watched_[use.resource]].push_back({event.op, use.times});
    }
  }

  void end(const Event& event) {
    sides_.leave(OpId{event.op});
    if (slots_[event.op] == nowhere) return;
    mark(event.op);
    shares_.remove(slots_[event.op]);
    slots_[event.op] = nowhere;
    for (const auto& use : paths_.uses(graph_.ops()[event.op].path)) {
      if (watched_[use.resource] == nowhere) continue;
      std::erase_if(now_using_[watched_[use.resource]],
                    [&](const User& user) { return user.op == event.op; });
    }
  }

  void share() {
    for (const auto op : sides_.changes()) {
      if (slots_[op.index()] != nowhere) shares_.set_cap(slots_[op.index()], sides_.cap(op));
    }
    sides_.forget_changes();
    for (const auto slot : shares_.solve()) mark(in_slot_[slot]);
  }

  /// Marks the resources of the op: their use must be summed up again.
  void mark(std::uint32_t op) {
    for (const auto& use : paths_.uses(graph_.ops()[op].path)) {
      const auto place = watched_[use.resource];
      if (place == nowhere || is_stale_[place]) continue;
      is_stale_[place] = true;
      stale_.push_back({place, use.resource});
    }
  }

  void note(Seconds date) {
    for (const auto& [place, resource] : stale_) {
      is_stale_[place] = false;
      UseChange change{date};
      for (const auto& [op, times] : now_using_[place]) {
        const auto share = shares_.rate(slots_[op]) * times / paths_.capacities()[resource];
        (graph_.ops()[op].is_endless() ? change.others : change.own) += share;
      }
      auto& changes = changes_[place];
      const auto before = changes.empty() ? UseChange{} : changes.back();
      if (change.own != before.own || change.others != before.others) changes.push_back(change);
    }
    stale_.clear();
  }

  const OpGraph& graph_;
  const Timeline& timeline_;
  PathTable paths_;
  MaxMin shares_;
  SideTable sides_;
  std::vector<MaxMin::Slot> slots_;     ///< by op, while it shares
  std::vector<std::uint32_t> in_slot_;  ///< op by slot
  std::vector<bool> is_shared_;  ///< by number of a resource in the paths: not by a GPU's kernels alone
  std::vector<std::uint32_t> watched_;  ///< by number: place among the watched resources
  std::vector<std::vector<User>> now_using_;
  std::vector<bool> is_stale_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stale_;  ///< places and their numbers
  std::vector<std::vector<UseChange>> changes_;
};

}  // namespace

std::vector<std::vector<UseChange>> link_use(const Platform& platform, const OpGraph& graph,
                                             const Timeline& timeline,
                                             const std::vector<ResourceId>& resources) {
  return Replay{platform, graph, timeline, resources}.run();
}

}  // namespace gradway
