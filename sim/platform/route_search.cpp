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
      return joins_gpus(kind);
    case RouteSearch::Over::host:
      return kind == LinkKind::pcie || kind == LinkKind::c2c || kind == LinkKind::inter_socket;
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
RouteSearch::Neighbours::Neighbours(const Platform& platform, const IdenticalDomains& alike, End end,
                                    Other opposite)
    : platform_{platform}, alike_{alike} {
  std::vector<std::uint32_t> described;
  for (std::size_t i = 0; alike.hold() && i < alike.resources(); ++i) {
    const auto& resource = platform.resources[alike.resource(i, 0).index()];
    if (resource.kind == ResourceKind::link) described.push_back(resource.of);
  }
  if (!alike.hold())
    for (std::uint32_t i = 0; i < platform.links.size(); ++i) described.push_back(i);
  const auto places = alike.hold() ? alike.devices() + 2 : platform.devices.size();
  first_.resize(places + 1, 0);
  inner_end_.resize(places, 0);
  links_.resize(described.size());
  const auto is_inner = [&](const Link& link) { return !is_endpoint(platform.device(opposite(link)).kind); };
  for (const auto index : described) {
    const auto& link = platform.links[index];
    const auto place = place_of(end(link));
    ++first_[place + 1];
    if (is_inner(link)) ++inner_end_[place];
  }
  for (std::size_t i = 0; i < inner_end_.size(); ++i) {
    first_[i + 1] += first_[i];
    inner_end_[i] += first_[i];
  }
  auto inner = first_;
  auto outer = inner_end_;
  for (const auto index : described) {
    const auto& link = platform.links[index];
    const auto place = place_of(end(link));
    links_[is_inner(link) ? inner[place]++ : outer[place]++] = index;
  }
}

std::size_t RouteSearch::Neighbours::place_of(DeviceId device) const {
  if (!alike_.hold()) return device.index();
  if (device.index() + 1 == platform_.devices.size()) return alike_.devices() + 1;
  return alike_.is_switch(device) ? alike_.devices() : device.index() % alike_.devices();
}

std::span<const std::uint32_t> RouteSearch::Neighbours::links_of(DeviceId device, std::size_t begin,
                                                                 std::size_t end, Moved& moved) const {
  const auto described = std::span{links_}.subspan(begin, end - begin);
  if (!alike_.hold() || described.empty()) return described;
  const bool is_last = device.index() + 1 == platform_.devices.size();
  const auto domain = alike_.domain_of(device);
  if (!is_last && domain == 0) return described;
  const auto [place, is_new] = moved.try_emplace(device);
  for (auto i = is_last ? 0 : domain; is_new && i < (is_last ? alike_.count() : domain + 1); ++i)
    for (const auto link : described)
      place->second.push_back(
          platform_.resources[alike_.on_domain(platform_.links[link].resource, i).index()].of);
  return place->second;
}

RouteSearch::RouteSearch(const Platform& platform)
    : platform_{platform},
      alike_{platform},
      out_{platform, alike_, [](const Link& link) { return link.from; },
           [](const Link& link) { return link.to; }},
      into_{platform, alike_, [](const Link& link) { return link.to; },
            [](const Link& link) { return link.from; }},
      forward_{&out_, std::vector<std::uint32_t>(platform.devices.size(), unreached)},
      backward_{&into_, std::vector<std::uint32_t>(platform.devices.size(), unreached)} {}

void RouteSearch::Frontier::begin(DeviceId start) {
  visited = {start};
  levels = {0, 1};
  hops[start.index()] = 0;
}

void RouteSearch::Frontier::reset() {
  for (const auto* list : {&visited, &counted})
    for (const auto device : *list) hops[device.index()] = unreached;
  visited.clear();
  counted.clear();
}

std::span<const std::uint32_t> RouteSearch::steps(const Frontier& frontier, DeviceId device,
                                                  const Rules& rules) const {
  return rules.through_endpoints ? frontier.neighbours->all(device) : frontier.neighbours->inner(device);
}

DeviceId RouteSearch::next(const Frontier& frontier, const Link& link) const {
  return frontier.neighbours == &out_ ? link.to : link.from;
}

/// Number of links to look at in order to expand the frontier by one level.
std::size_t RouteSearch::cost(const Frontier& frontier, const Rules& rules) const {
  std::size_t links = 0;
  for (const auto device : frontier.level(frontier.last_level()))
    links += steps(frontier, device, rules).size();
  return links;
}

/// Expands the frontier by one level. @return whether it has met the other one
bool RouteSearch::expand(Frontier& frontier, const Frontier& opposite, const Rules& rules) {
  const auto hop = frontier.levels.size() - 1;
  bool meets = false;
  for (auto i = frontier.levels[hop - 1]; i < frontier.levels[hop]; ++i) {
    for (const auto index : steps(frontier, frontier.visited[i], rules)) {
      const auto& link = platform_.links[index];
      const auto there = next(frontier, link);
      auto& hops = frontier.hops[there.index()];
      if (hops != unreached || !allowed(link.kind, rules.over)) continue;
      hops = static_cast<std::uint32_t>(hop);
      frontier.visited.push_back(there);
      meets = meets || opposite.hops[there.index()] != unreached;
    }
  }
  frontier.levels.push_back(frontier.visited.size());
  return meets;
}

std::optional<Route> RouteSearch::find(DeviceId from, DeviceId to, Over over, bool through_endpoints,
                                       std::size_t label) {
  if (from == to) return Route{};
  const Rules rules{over, through_endpoints};
  forward_.begin(from);
  backward_.begin(to);
  // Both are expanded once, since a frontier at an endpoint cannot be met if endpoints are excluded.
  bool meets = expand(forward_, backward_, rules);
  meets = expand(backward_, forward_, rules) || meets;
  while (!meets) {
    const auto ahead = cost(forward_, rules);
    const auto behind = cost(backward_, rules);
    if (ahead == 0 || behind == 0) break;
    meets = ahead <= behind ? expand(forward_, backward_, rules) : expand(backward_, forward_, rules);
  }
  std::optional<Route> route;
  if (meets) {
    count_back(rules);
    route = walk(from, to, rules, label);
  }
  forward_.reset();
  backward_.reset();
  return route;
}

/// Sets the hops to the end for devices on shortest routes that only the forward search has visited.
void RouteSearch::count_back(const Rules& rules) {
  const auto route_hops = static_cast<std::uint32_t>(forward_.last_level() + backward_.last_level());
  for (auto hop = forward_.last_level(); hop-- > 0;) {
    for (const auto device : forward_.level(hop)) {
      const auto remaining = route_hops - static_cast<std::uint32_t>(hop);
      for (const auto index : steps(forward_, device, rules)) {
        const auto& link = platform_.links[index];
        if (!allowed(link.kind, rules.over) || backward_.hops[link.to.index()] != remaining - 1) continue;
        backward_.hops[device.index()] = remaining;
        backward_.counted.push_back(device);
        break;
      }
    }
  }
}

/// Walks from level to level of hops to the end. Next links are found as in the search: among links that
/// leave the device in the part that the forward search covered, then among links into the next level of the
/// backward search.
Route RouteSearch::walk(DeviceId from, DeviceId to, const Rules& rules, std::size_t label) const {
  Route route;
  std::vector<std::uint32_t> onward;
  for (auto current = from; current != to;) {
    const auto remaining = backward_.hops[current.index()];
    onward.clear();
    if (remaining > backward_.last_level()) {
      for (const auto index : steps(forward_, current, rules)) {
        const auto& link = platform_.links[index];
        if (allowed(link.kind, rules.over) && backward_.hops[link.to.index()] == remaining - 1)
          onward.push_back(index);
      }
    } else {
      for (const auto device : backward_.level(remaining - 1)) {
        for (const auto index : steps(backward_, device, rules)) {
          const auto& link = platform_.links[index];
          if (link.from == current && allowed(link.kind, rules.over)) onward.push_back(index);
        }
      }
    }
    expects(!onward.empty(), "a route that was found must have a next link");
    std::ranges::sort(onward);
    route.links.push_back(&platform_.links[onward[label % onward.size()]]);
    current = route.links.back()->to;
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
  backward_.begin(device);
  const Rules rules{Over::host, true};
  std::optional<DeviceId> socket;
  while (!socket && !backward_.level(backward_.last_level()).empty()) {
    for (const auto near : backward_.level(backward_.last_level())) {
      if (platform_.device(near).kind == DeviceKind::socket && (!socket || near < *socket)) socket = near;
    }
    if (!socket) expand(backward_, forward_, rules);
  }
  backward_.reset();
  return socket;
}

}  // namespace gradway
