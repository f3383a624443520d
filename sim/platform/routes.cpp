// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/routes.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths_no_color_map.hpp>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

// A hop that leaves a GPU or NIC on the way costs more than any detour through switches.
constexpr int through_endpoint = 1 << 16;

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

struct Edge {
  const Link* link = nullptr;
  int hops = 1;
};

}  // namespace

Seconds Route::latency() const {
  Seconds sum{};
  for (const auto* link : links) sum += link->latency;
  return sum;
}

void Route::append_resources(std::vector<ResourceId>& path) const {
  for (const auto* link : links) path.push_back(link->resource);
}

/// The connections of one kind, as a compressed graph in which routes are searched backwards from their end.
struct Routes::Graph {
  using Compressed =
      boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Edge, boost::no_property>;

  Graph(const Platform& platform, Over over) : reversed{make(platform, over)} {}

  /// Hops from each device to `to`; the largest int where there is no way.
  std::vector<int> hops_to(DeviceId to) const {
    std::vector<int> hops(boost::num_vertices(reversed), std::numeric_limits<int>::max());
    boost::dijkstra_shortest_paths_no_color_map(
        reversed, to.index(),
        boost::weight_map(boost::get(&Edge::hops, reversed))
            .distance_map(
                boost::make_iterator_property_map(hops.begin(), boost::get(boost::vertex_index, reversed))));
    return hops;
  }

  Compressed reversed;

 private:
  static Compressed make(const Platform& platform, Over over) {
    std::vector<std::pair<std::size_t, std::size_t>> ends;
    std::vector<Edge> edges;
    for (const auto& link : platform.links) {
      if (!allowed(link.kind, over)) continue;
      ends.emplace_back(link.to.index(), link.from.index());
      edges.push_back({&link, is_endpoint(platform.device(link.to).kind) ? through_endpoint : 1});
    }
    return Compressed{boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), edges.begin(),
                      platform.devices.size()};
  }
};

Routes::Routes(const Platform& platform) : platform_{platform} {
  for (const auto over : {Over::nvlink, Over::host, Over::network, Over::any}) {
    graphs_.push_back(std::make_unique<Graph>(platform, over));
  }
}

Routes::~Routes() = default;

std::optional<Route> Routes::find(DeviceId from, DeviceId to, Over over, std::size_t label) const {
  const auto& graph = *graphs_[static_cast<std::size_t>(over)];
  const auto hops = graph.hops_to(to);
  if (hops[from.index()] == std::numeric_limits<int>::max()) return std::nullopt;
  Route route;
  for (auto at = from; at != to;) {
    std::vector<const Link*> onward;
    for (const auto& link : platform_.links) {
      if (link.from != at || !allowed(link.kind, over)) continue;
      const auto cost = is_endpoint(platform_.device(link.to).kind) ? through_endpoint : 1;
      const auto rest = hops[link.to.index()];
      if (rest != std::numeric_limits<int>::max() && rest + cost == hops[at.index()]) onward.push_back(&link);
    }
    expects(!onward.empty(), "a way that exists can be walked");
    route.links.push_back(onward[label % onward.size()]);
    at = route.links.back()->to;
  }
  return route;
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

std::optional<DeviceId> Routes::home_socket(DeviceId device) const {
  const auto hops = graphs_[static_cast<std::size_t>(Over::host)]->hops_to(device);
  std::optional<DeviceId> best;
  for (std::size_t i = 0; i < platform_.devices.size(); ++i) {
    if (platform_.devices[i].kind != DeviceKind::socket || hops[i] == std::numeric_limits<int>::max())
      continue;
    if (!best || hops[i] < hops[best->index()]) best = DeviceId{i};
  }
  return best;
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
