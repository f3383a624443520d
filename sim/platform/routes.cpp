// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/routes.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

constexpr int unreached = std::numeric_limits<int>::max();

bool is_endpoint(DeviceKind kind) {
  return kind == DeviceKind::gpu || kind == DeviceKind::nic;
}

bool allowed(LinkKind kind, Routes::Over over) {
  switch (over) {
    case Routes::Over::nvlink:
      return kind == LinkKind::nvlink;
    case Routes::Over::host:
      return kind == LinkKind::pcie || kind == LinkKind::inter_socket;
    case Routes::Over::network:
      return kind == LinkKind::network;
    case Routes::Over::any:
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

Routes::Routes(const Platform& platform)
    : platform_{platform},
      into_(platform.devices.size()),
      out_of_(platform.devices.size()),
      nodes_(static_cast<std::size_t>(platform.nodes)) {
  for (const auto& link : platform.links) {
    into_[link.to.index()].push_back(&link);
    out_of_[link.from.index()].push_back(&link);
  }
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    if (const auto node = platform.devices[i].node; node >= 0) {
      nodes_[static_cast<std::size_t>(node)].push_back(DeviceId{i});
    }
  }
}

/// Counts hops backwards from the end, breadth first, until the start is reached. Without `through_endpoints`
/// no GPU or NIC but the start is entered, so that a search on a fabric does not visit all that hang on it.
Routes::Hops Routes::hops_to(DeviceId to, std::optional<DeviceId> from, Over over,
                             bool through_endpoints) const {
  Hops hops(platform_.devices.size(), unreached);
  std::vector<DeviceId> queue{to};
  hops[to.index()] = 0;
  for (std::size_t next = 0; next < queue.size() && queue[next] != from; ++next) {
    for (const auto* link : into_[queue[next].index()]) {
      auto& there = hops[link->from.index()];
      if (there != unreached || !allowed(link->kind, over)) continue;
      if (!through_endpoints && link->from != from && is_endpoint(platform_.device(link->from).kind))
        continue;
      there = hops[queue[next].index()] + 1;
      queue.push_back(link->from);
    }
  }
  return hops;
}

Route Routes::walk(DeviceId from, DeviceId to, const Hops& hops, Over over, std::size_t label) const {
  Route route;
  for (auto at = from; at != to;) {
    std::vector<const Link*> onward;
    for (const auto* link : out_of_[at.index()]) {
      const auto rest = hops[link->to.index()];
      if (allowed(link->kind, over) && rest != unreached && rest + 1 == hops[at.index()])
        onward.push_back(link);
    }
    expects(!onward.empty(), "a way that exists can be walked");
    route.links.push_back(onward[label % onward.size()]);
    at = route.links.back()->to;
  }
  return route;
}

std::optional<Route> Routes::find(DeviceId from, DeviceId to, Over over, std::size_t label) const {
  if (auto direct = direct_link(from, to, over, label)) return Route{{direct}};
  for (const bool through_endpoints : {false, true}) {
    const auto hops = hops_to(to, from, over, through_endpoints);
    if (hops[from.index()] != unreached) return walk(from, to, hops, over, label);
  }
  return std::nullopt;
}

const Link* Routes::direct_link(DeviceId from, DeviceId to, Over over, std::size_t label) const {
  std::vector<const Link*> direct;
  for (const auto* link : out_of_[from.index()]) {
    if (link->to == to && allowed(link->kind, over)) direct.push_back(link);
  }
  return direct.empty() ? nullptr : direct[label % direct.size()];
}

int Routes::nvlinks(DeviceId a, DeviceId b) const {
  const auto route = find(a, b, Over::nvlink);
  if (!route || route->links.empty()) return 0;
  for (const auto* link : route->links) {
    if (link->to != b && is_endpoint(platform_.device(link->to).kind)) return 0;
  }
  return std::ranges::min(route->links, {}, &Link::count)->count;
}

PathType Routes::path_type(DeviceId a, DeviceId b) const {
  if (a == b) return PathType::self;
  if (nvlinks(a, b) > 0) return PathType::nvlink;
  const auto route = find(a, b, Over::host);
  if (!route) return PathType::net;
  int switches = 0;
  int bridges = 0;
  int sockets = 0;
  for (const auto* link : route->links) {
    if (link->kind == LinkKind::inter_socket) return PathType::sys;
    switch (platform_.device(link->to).kind) {
      case DeviceKind::pcie_switch:
        ++switches;
        break;
      case DeviceKind::root_complex:
        ++bridges;
        break;
      case DeviceKind::socket:
        ++sockets;
        break;
      default:
        break;
    }
  }
  if (bridges > 1) return PathType::node;
  if (bridges + sockets > 0) return PathType::phb;
  return switches > 1 ? PathType::pxb : PathType::pix;
}

std::optional<Routes::SwitchLinks> Routes::links_to_nvswitch(DeviceId gpu) const {
  for (const auto* up : out_of_[gpu.index()]) {
    if (platform_.device(up->to).kind != DeviceKind::nvswitch) continue;
    for (const auto* down : into_[gpu.index()])
      if (down->from == up->to) return SwitchLinks{up, down};
  }
  return std::nullopt;
}

std::optional<DeviceId> Routes::home_socket(DeviceId device) const {
  const auto hops = hops_to(device, std::nullopt, Over::host, true);
  std::optional<DeviceId> best;
  for (const auto socket : on_node(platform_.device(device).node, DeviceKind::socket)) {
    if (hops[socket.index()] == unreached) continue;
    if (!best || hops[socket.index()] < hops[best->index()]) best = socket;
  }
  return best;
}

std::vector<DeviceId> Routes::on_node(int node, DeviceKind kind) const {
  std::vector<DeviceId> found;
  for (const auto id : nodes_[static_cast<std::size_t>(node)]) {
    if (platform_.device(id).kind == kind) found.push_back(id);
  }
  return found;
}

std::string topo_label(PathType type, int nvlinks) {
  switch (type) {
    case PathType::self:
      return "X";
    case PathType::nvlink:
      return fmt::format("NV{}", nvlinks);
    case PathType::pix:
      return "PIX";
    case PathType::pxb:
      return "PXB";
    case PathType::phb:
      return "PHB";
    case PathType::node:
      return "NODE";
    case PathType::sys:
      return "SYS";
    case PathType::net:
      return "NET";
  }
  return "?";
}

}  // namespace gradway
