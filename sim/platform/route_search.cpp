// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/route_search.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

constexpr auto unreached = std::numeric_limits<std::uint32_t>::max();

bool allowed(LinkKind kind, RouteSearch::Over over) {
  switch (over) {
    case RouteSearch::Over::nvlink:
      return kind == LinkKind::nvlink;
    case RouteSearch::Over::host:
      return kind == LinkKind::pcie || kind == LinkKind::inter_socket;
    case RouteSearch::Over::network:
      return kind == LinkKind::network;
    case RouteSearch::Over::any:
      return true;
  }
  return false;
}

}  // namespace

Seconds Route::latency() const {
  Seconds sum{};
  for (const auto* link : links) sum += link->latency;
  return sum;
}

void Route::append_resources(std::vector<ResourceId>& path) const {
  for (const auto* link : links) path.push_back(link->resource);
}

/// A counting sort.
template <class End, class Other>
RouteSearch::Neighbours::Neighbours(const Platform& platform, End end, Other other)
    : first_(platform.devices.size() + 1, 0),
      inner_end_(platform.devices.size(), 0),
      links_(platform.links.size()) {
  const auto is_inner = [&](const Link& link) { return !is_endpoint(platform.device(other(link)).kind); };
  for (const auto& link : platform.links) {
    ++first_[end(link).index() + 1];
    if (is_inner(link)) ++inner_end_[end(link).index()];
  }
  for (std::size_t i = 0; i < inner_end_.size(); ++i) {
    first_[i + 1] += first_[i];
    inner_end_[i] += first_[i];
  }
  auto inner = first_;
  auto outer = inner_end_;
  for (std::uint32_t i = 0; i < platform.links.size(); ++i) {
    const auto& link = platform.links[i];
    auto& place = is_inner(link) ? inner[end(link).index()] : outer[end(link).index()];
    links_[place++] = i;
  }
}

RouteSearch::RouteSearch(const Platform& platform)
    : platform_{platform},
      out_{platform, [](const Link& link) { return link.from; }, [](const Link& link) { return link.to; }},
      into_{platform, [](const Link& link) { return link.to; }, [](const Link& link) { return link.from; }},
      ahead_{&out_, std::vector<std::uint32_t>(platform.devices.size(), unreached)},
      behind_{&into_, std::vector<std::uint32_t>(platform.devices.size(), unreached)} {}

void RouteSearch::Side::begin(DeviceId at) {
  visited = {at};
  levels = {0, 1};
  hops[at.index()] = 0;
}

void RouteSearch::Side::wipe() {
  for (const auto* list : {&visited, &besides})
    for (const auto device : *list) hops[device.index()] = unreached;
  visited.clear();
  besides.clear();
}

std::span<const std::uint32_t> RouteSearch::steps(const Side& side, DeviceId at, const Rules& rules) const {
  return rules.through_endpoints ? side.neighbours->all(at) : side.neighbours->inner(at);
}

DeviceId RouteSearch::next(const Side& side, const Link& link) const {
  return side.neighbours == &out_ ? link.to : link.from;
}

/// Of counting one level more.
std::size_t RouteSearch::cost(const Side& side, const Rules& rules) const {
  std::size_t links = 0;
  for (const auto device : side.level(side.last_level())) links += steps(side, device, rules).size();
  return links;
}

/// Counts one level more. @return whether the sides meet in it
bool RouteSearch::expand(Side& side, const Side& other, const Rules& rules) {
  const auto hop = side.levels.size() - 1;
  bool meets = false;
  for (auto i = side.levels[hop - 1]; i < side.levels[hop]; ++i) {
    for (const auto index : steps(side, side.visited[i], rules)) {
      const auto& link = platform_.links[index];
      const auto there = next(side, link);
      auto& hops = side.hops[there.index()];
      if (hops != unreached || !allowed(link.kind, rules.over)) continue;
      hops = static_cast<std::uint32_t>(hop);
      side.visited.push_back(there);
      meets = meets || other.hops[there.index()] != unreached;
    }
  }
  side.levels.push_back(side.visited.size());
  return meets;
}

std::optional<Route> RouteSearch::find(DeviceId from, DeviceId to, Over over, bool through_endpoints,
                                       std::size_t label) {
  if (from == to) return Route{};
  const Rules rules{over, through_endpoints};
  ahead_.begin(from);
  behind_.begin(to);
  // Both once: without endpoints in between a side that has not moved cannot be met.
  bool meets = expand(ahead_, behind_, rules);
  meets = expand(behind_, ahead_, rules) || meets;
  while (!meets) {
    const auto ahead = cost(ahead_, rules);
    const auto behind = cost(behind_, rules);
    if (ahead == 0 || behind == 0) break;
    meets = ahead <= behind ? expand(ahead_, behind_, rules) : expand(behind_, ahead_, rules);
  }
  std::optional<Route> route;
  if (meets) {
    count_back(rules);
    route = walk(from, to, rules, label);
  }
  ahead_.wipe();
  behind_.wipe();
  return route;
}

/// Hops to the end also for devices on the way that only the other side has visited.
void RouteSearch::count_back(const Rules& rules) {
  const auto all = static_cast<std::uint32_t>(ahead_.last_level() + behind_.last_level());
  for (auto hop = ahead_.last_level(); hop-- > 0;) {
    for (const auto device : ahead_.level(hop)) {
      const auto left = all - static_cast<std::uint32_t>(hop);
      for (const auto index : steps(ahead_, device, rules)) {
        const auto& link = platform_.links[index];
        if (!allowed(link.kind, rules.over) || behind_.hops[link.to.index()] != left - 1) continue;
        behind_.hops[device.index()] = left;
        behind_.besides.push_back(device);
        break;
      }
    }
  }
}

/// From level to level of hops to the end. What leads on from a device is looked for where the search did:
/// among what leaves it as far as one side came, then among what enters the next level of the other.
Route RouteSearch::walk(DeviceId from, DeviceId to, const Rules& rules, std::size_t label) const {
  Route route;
  std::vector<std::uint32_t> onward;
  for (auto at = from; at != to;) {
    const auto left = behind_.hops[at.index()];
    onward.clear();
    if (left > behind_.last_level()) {
      for (const auto index : steps(ahead_, at, rules)) {
        const auto& link = platform_.links[index];
        if (allowed(link.kind, rules.over) && behind_.hops[link.to.index()] == left - 1)
          onward.push_back(index);
      }
    } else {
      for (const auto device : behind_.level(left - 1)) {
        for (const auto index : steps(behind_, device, rules)) {
          const auto& link = platform_.links[index];
          if (link.from == at && allowed(link.kind, rules.over)) onward.push_back(index);
        }
      }
    }
    expects(!onward.empty(), "a way that exists can be walked");
    std::ranges::sort(onward);
    route.links.push_back(&platform_.links[onward[label % onward.size()]]);
    at = route.links.back()->to;
  }
  return route;
}

const Link* RouteSearch::direct_link(DeviceId from, DeviceId to, Over over, std::size_t label) const {
  std::vector<std::uint32_t> direct;
  const bool by_start = out_of(from).size() <= into(to).size();
  for (const auto index : by_start ? out_of(from) : into(to)) {
    const auto& link = platform_.links[index];
    if (link.from == from && link.to == to && allowed(link.kind, over)) direct.push_back(index);
  }
  return direct.empty() ? nullptr : &platform_.links[direct[label % direct.size()]];
}

std::optional<DeviceId> RouteSearch::nearest_socket(DeviceId device) {
  behind_.begin(device);
  const Rules rules{Over::host, true};
  std::optional<DeviceId> found;
  while (!found && !behind_.level(behind_.last_level()).empty()) {
    for (const auto near : behind_.level(behind_.last_level())) {
      if (platform_.device(near).kind == DeviceKind::socket && (!found || near < *found)) found = near;
    }
    if (!found) expand(behind_, ahead_, rules);
  }
  behind_.wipe();
  return found;
}

}  // namespace gradway
