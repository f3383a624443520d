// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/fluid/max_min.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace gradway {

namespace {

/// Subtraction leaves a rounding error relative to the original sum. Below this share of it, cancellation
/// would be too large, and the sum is recomputed.
constexpr double cancellation_threshold = 1e-3;

}  // namespace

MaxMin::MaxMin(const std::vector<double>& capacities, std::size_t longest)
    : links_(capacities.size()), free_(longest + 1) {
  for (std::size_t i = 0; i < capacities.size(); ++i) links_[i].capacity = capacities[i];
}

MaxMin::Slot MaxMin::add(std::span<const PathTable::Use> path, double weight, double cap) {
  const Slot slot = take_slot(path.size());
  Flow& flow = flows_[slot];
  flow.weight = weight;
  flow.cap = cap;
  flow.rate = 0;
  flow.live = true;
  const auto flow_hops = hops(flow);
  for (std::uint32_t i = 0; i < flow_hops.size(); ++i) {
    auto& visitors = links_[path[i].resource].flows;
    flow_hops[i] = {path[i].resource, path[i].times, static_cast<std::uint32_t>(visitors.size())};
    visitors.push_back({slot, i});
  }
  if (flow_hops.empty()) {
    dirty_free_flows_.push_back(slot);
  } else {
    mark(flow_hops.front().link);  // solve() reaches the other links through the flow
  }
  return slot;
}

void MaxMin::remove(Slot slot) {
  Flow& flow = flows_[slot];
  for (const Hop& hop : hops(flow)) {
    auto& visitors = links_[hop.link].flows;
    const Visitor last = visitors.back();
    visitors[hop.place] = last;
    hops_[flows_[last.slot].first_hop + last.hop].place = hop.place;
    visitors.pop_back();
    mark(hop.link);
  }
  flow.live = false;
  free_[flow.hops].push_back(slot);
}

void MaxMin::set_cap(Slot slot, double cap) {
  Flow& flow = flows_[slot];
  flow.cap = cap;
  if (flow.hops == 0) {
    dirty_free_flows_.push_back(slot);
  } else {
    mark(hops(flow).front().link);
  }
}

std::span<const MaxMin::Slot> MaxMin::solve() {
  ++visit_;
  solved_.clear();
  for (const Slot slot : dirty_free_flows_) {
    if (!flows_[slot].live || flows_[slot].hops > 0) continue;
    flows_[slot].rate = flows_[slot].cap;
    solved_.push_back(slot);
  }
  dirty_free_flows_.clear();
  for (const std::uint32_t link : dirty_) {
    links_[link].dirty = false;
    if (links_[link].visit == visit_ || links_[link].flows.empty()) continue;
    if (links_[link].flows.size() == 1 && rate_alone(links_[link].flows.front().slot)) continue;
    collect(link);
    fill();
  }
  dirty_.clear();
  return solved_;
}

MaxMin::Slot MaxMin::take_slot(std::size_t length) {
  if (free_[length].empty()) {
    flows_.push_back({.weight = 1,
                      .cap = 0,
                      .rate = 0,
                      .first_hop = hops_.size(),
                      .hops = static_cast<std::uint32_t>(length),
                      .visit = 0,
                      .fixed = false,
                      .live = false});
    hops_.resize(hops_.size() + length);
    return static_cast<Slot>(flows_.size() - 1);
  }
  const Slot slot = free_[length].back();
  free_[length].pop_back();
  return slot;
}

void MaxMin::mark(std::uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

/// Sets the rate of a flow that has all its resources to itself. @return false if it shares one
bool MaxMin::rate_alone(Slot slot) {
  Flow& flow = flows_[slot];
  if (flow.visit == visit_) return true;
  double rate = flow.cap;
  for (const Hop& hop : hops(flow)) {
    const Link& link = links_[hop.link];
    if (link.flows.size() > 1) return false;
    rate = std::min(rate, link.capacity / hop.times);
  }
  flow.rate = rate;
  flow.visit = visit_;
  solved_.push_back(slot);
  return true;
}

void MaxMin::reach(std::uint32_t link) {
  if (links_[link].visit == visit_) return;
  links_[link].visit = visit_;
  reached_.push_back(link);
}

/// Collects all links and flows connected with `first`, sums of the links, and heaps of levels.
void MaxMin::collect(std::uint32_t first) {
  component_ = solved_.size();
  reached_.clear();
  caps_.clear();
  levels_.clear();
  reach(first);
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    Link& link = links_[reached_[i]];
    for (const auto& [slot, hop] : link.flows) {
      Flow& flow = flows_[slot];
      if (flow.visit == visit_) continue;
      flow.visit = visit_;
      flow.fixed = false;
      solved_.push_back(slot);
      if (std::isfinite(flow.cap)) caps_.push_back({flow.cap / flow.weight, slot});
      for (const Hop& flow_hop : hops(flow)) reach(flow_hop.link);
    }
    link.growing = static_cast<std::uint32_t>(link.flows.size());
    sum_up(link);
    levels_.push_back({link.left / link.weight, reached_[i]});
  }
  std::make_heap(levels_.begin(), levels_.end(), std::greater<>{});
  std::sort(caps_.begin(), caps_.end());
}

/// Progressive filling of the collected component. A level is the rate of a flow of weight one.
void MaxMin::fill() {
  std::size_t growing = solved_.size() - component_;
  std::size_t next_cap = 0;
  double level = 0;
  while (growing > 0) {
    while (next_cap < caps_.size() && flows_[caps_[next_cap].second].fixed) ++next_cap;
    const bool limited = tightest(level);
    if (next_cap < caps_.size() && (!limited || caps_[next_cap].first <= levels_.front().first)) {
      const auto [cap_level, slot] = caps_[next_cap];
      level = std::max(level, cap_level);
      fix(slot, flows_[slot].cap);
      --growing;
      continue;
    }
    level = levels_.front().first;
    for (const auto& [slot, hop] : links_[levels_.front().second].flows) {
      if (flows_[slot].fixed) continue;
      fix(slot, flows_[slot].weight * level);
      --growing;
    }
  }
}

/// Recomputes the sums of a link from its flows.
void MaxMin::sum_up(Link& link) {
  link.left = link.capacity;
  link.weight = 0;
  for (const auto& [slot, hop] : link.flows) {
    const Flow& flow = flows_[slot];
    const double times = hops_[flow.first_hop + hop].times;
    const bool fixed = flow.visit == visit_ && flow.fixed;
    if (fixed)
      link.left -= flow.rate * times;
    else
      link.weight += flow.weight * times;
  }
  link.exact_weight = link.weight;
}

/// Brings the link that is used up first to the top of the heap of levels. Levels only grow while flows are
/// fixed, so an entry is recomputed only when it reaches the top. @return false if no link is left
bool MaxMin::tightest(double level) {
  while (!levels_.empty()) {
    const auto [known, index] = levels_.front();
    Link& link = links_[index];
    std::pop_heap(levels_.begin(), levels_.end(), std::greater<>{});
    levels_.pop_back();
    if (link.growing == 0) continue;
    if (link.weight < cancellation_threshold * link.exact_weight) sum_up(link);
    const double current = std::max(level, link.left / link.weight);
    levels_.push_back({current, index});
    std::push_heap(levels_.begin(), levels_.end(), std::greater<>{});
    if (current <= known || levels_.front().second == index) return true;
  }
  return false;
}

void MaxMin::fix(Slot slot, double rate) {
  Flow& flow = flows_[slot];
  flow.rate = rate;
  flow.fixed = true;
  for (const Hop& hop : hops(flow)) {
    Link& link = links_[hop.link];
    link.left -= rate * hop.times;
    link.weight -= flow.weight * hop.times;
    --link.growing;
  }
}

}  // namespace gradway
