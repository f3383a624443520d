// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/routes.hpp"

#include <algorithm>

namespace gradway {
namespace {

/// Looks an answer up in a cache, or finds and caches it.
template <class Question, class Answer, class Find>
Answer remembered(std::map<Question, Answer>& known, const Question& question, const Find& find) {
  const auto [place, is_new] = known.try_emplace(question);
  if (is_new) place->second = find();
  return place->second;
}

}  // namespace

Routes::Routes(const Platform& platform) : platform_{platform}, search_{platform} {
  if (platform.node_size.devices > 0) return;
  nodes_.resize(static_cast<std::size_t>(platform.nodes));
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    if (const auto node = platform.devices[i].node; node >= 0) {
      nodes_[static_cast<std::size_t>(node)].push_back(DeviceId{i});
    }
  }
}

/// The cache key; nothing if the answer would not hold on other nodes.
std::optional<Routes::Question> Routes::question(DeviceId a, DeviceId b, Over over, std::size_t label) const {
  const auto size = platform_.node_size.devices;
  const auto node = platform_.device(a).node;
  if (size == 0 || node < 0 || platform_.device(b).node != node) return std::nullopt;
  const auto first = static_cast<std::size_t>(node) * size;
  return Question{a.index() - first, b.index() - first, over, label};
}

std::optional<Route> Routes::find(DeviceId from, DeviceId to, Over over, std::size_t label) const {
  const auto asked = question(from, to, over, label);
  if (!asked) return seek(from, to, over, label);
  const auto links = platform_.node_size.links;
  const auto first = static_cast<std::size_t>(platform_.device(from).node) * links;
  if (const auto known = routes_.find(*asked); known != routes_.end()) {
    if (!known->second) return std::nullopt;
    Route route;
    for (const auto link : *known->second) route.links.push_back(&platform_.links[first + link]);
    return route;
  }
  auto route = seek(from, to, over, label);
  RouteInNode in_node;
  if (route) {
    in_node.emplace();
    for (const auto* link : route->links) {
      const auto index = static_cast<std::size_t>(link - platform_.links.data());
      if (index < first || index >= first + links) return route;  // it leaves the node
      in_node->push_back(index - first);
    }
  }
  routes_.emplace(*asked, std::move(in_node));
  return route;
}

std::optional<Route> Routes::seek(DeviceId from, DeviceId to, Over over, std::size_t label) const {
  if (const auto* direct = search_.direct_link(from, to, over, label)) return Route{{direct}};
  if (auto route = search_.find(from, to, over, false, label)) return route;
  return search_.find(from, to, over, true, label);
}

int Routes::nvlinks(DeviceId a, DeviceId b) const {
  const auto asked = question(a, b, Over::nvlink, 0);
  return asked ? remembered(nvlinks_, *asked, [&] { return count_nvlinks(a, b); }) : count_nvlinks(a, b);
}

int Routes::count_nvlinks(DeviceId a, DeviceId b) const {
  const auto route = find(a, b, Over::nvlink);
  if (!route || route->links.empty()) return 0;
  for (const auto* link : route->links) {
    if (link->to != b && is_endpoint(platform_.device(link->to).kind)) return 0;
  }
  return std::ranges::min(route->links, {}, &Link::count)->count;
}

PathType Routes::path_type(DeviceId a, DeviceId b) const {
  const auto asked = question(a, b, Over::any, 0);
  return asked ? remembered(path_types_, *asked, [&] { return measure_path(a, b); }) : measure_path(a, b);
}

PathType Routes::measure_path(DeviceId a, DeviceId b) const {
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
  const auto& links = platform_.links;
  for (const auto up : search_.out_of(gpu)) {
    if (platform_.device(links[up].to).kind != DeviceKind::nvswitch) continue;
    for (const auto down : search_.into(gpu))
      if (links[down].from == links[up].to) return SwitchLinks{&links[up], &links[down]};
  }
  return std::nullopt;
}

std::vector<const Link*> Routes::links_from(DeviceId device) const {
  std::vector<const Link*> links;
  for (const auto link : search_.out_of(device)) links.push_back(&platform_.links[link]);
  return links;
}

std::optional<DeviceId> Routes::home_socket(DeviceId device) const {
  const auto size = platform_.node_size.devices;
  const auto node = platform_.device(device).node;
  if (size == 0 || node < 0) return search_.nearest_socket(device);
  const auto first = static_cast<std::size_t>(node) * size;
  const auto offset = remembered(sockets_, device.index() - first, [&]() -> std::optional<std::size_t> {
    const auto socket = search_.nearest_socket(device);
    return socket ? std::optional{socket->index() - first} : std::nullopt;
  });
  return offset ? std::optional{DeviceId{first + *offset}} : std::nullopt;
}

std::vector<DeviceId> Routes::on_node(int node, DeviceKind kind) const {
  std::vector<DeviceId> devices;
  const auto add = [&](DeviceId id) {
    if (platform_.device(id).kind == kind) devices.push_back(id);
  };
  const auto size = platform_.node_size.devices;
  const auto number = static_cast<std::size_t>(node);
  for (auto i = number * size; i < (number + 1) * size; ++i) add(DeviceId{i});
  if (size == 0) std::ranges::for_each(nodes_[number], add);
  return devices;
}

std::vector<DeviceId> Routes::nearest(DeviceId device, DeviceKind kind) const {
  std::vector<DeviceId> devices;
  auto least = PathType::net;
  for (const auto candidate : on_node(platform_.device(device).node, kind)) {
    const auto distance = path_type(device, candidate);
    if (distance < least) devices.clear();
    least = std::min(least, distance);
    if (distance == least) devices.push_back(candidate);
  }
  return devices;
}

std::string topo_label(PathType type, int nvlinks) {
  const std::string word{path_words[static_cast<std::size_t>(type)]};
  return type == PathType::nvlink ? word + std::to_string(nvlinks) : word;
}

}  // namespace gradway
