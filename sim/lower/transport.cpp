// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/transport.hpp"

#include <algorithm>

namespace gradway {
namespace {

/// NICs of the device's node, nearest first.
std::vector<DeviceId> nics_by_distance(const Routes& routes, const Platform& platform, DeviceId gpu) {
  std::vector<std::pair<PathType, DeviceId>> found;
  for (const auto nic : routes.on_node(platform.device(gpu).node, DeviceKind::nic)) {
    found.emplace_back(routes.path_type(gpu, nic), nic);
  }
  std::ranges::stable_sort(found, {}, &std::pair<PathType, DeviceId>::first);
  std::vector<DeviceId> nics;
  for (const auto& [distance, nic] : found) nics.push_back(nic);
  return nics;
}

std::optional<DeviceId> pick_nic(const Routes& routes, const Platform& platform, DeviceId gpu,
                                 std::size_t rail) {
  const auto nics = nics_by_distance(routes, platform, gpu);
  if (nics.empty()) return std::nullopt;
  const auto nearest = routes.path_type(gpu, nics.front());
  const auto equals =
      std::ranges::count_if(nics, [&](DeviceId nic) { return routes.path_type(gpu, nic) == nearest; });
  return nics[rail % static_cast<std::size_t>(equals)];
}

/// Adds the parts of a hop one after the other; forgets all of them if one is missing.
class HopBuilder {
 public:
  HopBuilder(const Routes& routes, const Platform& platform) : routes_{routes}, platform_{platform} {}

  HopBuilder& way(DeviceId from, DeviceId to, Routes::Over over, std::size_t label = 0) {
    const auto route = routes_.find(from, to, over, label);
    if (!route) {
      complete_ = false;
      return *this;
    }
    route->append_resources(hop_.path);
    hop_.latency += route->latency();
    return *this;
  }

  HopBuilder& through_memory(DeviceId socket) {
    const auto memory = platform_.memories[socket.index()];
    if (memory) hop_.path.insert(hop_.path.end(), 2, *memory);
    complete_ = complete_ && memory.has_value();
    return *this;
  }

  std::optional<Hop> build(Transport transport) {
    if (!complete_) return std::nullopt;
    hop_.transport = transport;
    hop_.bandwidth = BytesPerSecond::infinite();
    for (const auto resource : hop_.path) {
      const auto uses = std::ranges::count(hop_.path, resource);
      const BytesPerSecond rate{platform_.resources[resource.index()].capacity / static_cast<double>(uses)};
      hop_.bandwidth = std::min(hop_.bandwidth, rate);
    }
    return std::move(hop_);
  }

 private:
  const Routes& routes_;
  const Platform& platform_;
  Hop hop_;
  bool complete_ = true;
};

std::optional<Hop> shm_hop(const Routes& routes, const Platform& platform, DeviceId from, DeviceId to) {
  const auto socket = routes.home_socket(to);
  if (!socket) return std::nullopt;
  return HopBuilder{routes, platform}
      .way(from, *socket, Routes::Over::host)
      .through_memory(*socket)
      .way(*socket, to, Routes::Over::host)
      .build(Transport::shm);
}

/// Between a GPU and its NIC, in either direction.
void reach_nic(HopBuilder& hop, const Routes& routes, const NcclSettings& settings, DeviceId from,
               DeviceId to, DeviceId gpu) {
  const auto direct = settings.net_gdr_level.value_or(PathType::pxb);
  const auto socket = routes.home_socket(gpu);
  if (routes.path_type(from, to) <= direct || !socket) {
    hop.way(from, to, Routes::Over::host);
    return;
  }
  hop.way(from, *socket, Routes::Over::host).through_memory(*socket).way(*socket, to, Routes::Over::host);
}

std::optional<Hop> net_hop(const Routes& routes, const Platform& platform, const NcclSettings& settings,
                           DeviceId from, DeviceId to, std::size_t rail) {
  const auto out = pick_nic(routes, platform, from, rail);
  const auto in = pick_nic(routes, platform, to, rail);
  if (!out || !in) return std::nullopt;
  HopBuilder hop{routes, platform};
  reach_nic(hop, routes, settings, from, *out, from);
  if (*out != *in) hop.way(*out, *in, Routes::Over::network, rail);
  reach_nic(hop, routes, settings, *in, to, to);
  return hop.build(Transport::net);
}

}  // namespace

Transport choose_transport(const Routes& routes, const Platform& platform, const NcclSettings& settings,
                           DeviceId a, DeviceId b) {
  if (platform.collectives == CollectiveRules::ideal) return Transport::p2p;
  const bool same_node = platform.device(a).node == platform.device(b).node;
  const auto level = settings.p2p_disable ? PathType::self : settings.p2p_level.value_or(PathType::pxb);
  if (same_node && routes.path_type(a, b) <= level) return Transport::p2p;
  if (same_node && !settings.shm_disable && routes.home_socket(b)) return Transport::shm;
  const bool nics = pick_nic(routes, platform, a, 0) && pick_nic(routes, platform, b, 0);
  return nics ? Transport::net : Transport::none;
}

std::optional<Hop> make_hop(const Routes& routes, const Platform& platform, const NcclSettings& settings,
                            DeviceId from, DeviceId to, std::size_t rail) {
  if (platform.collectives == CollectiveRules::ideal) {
    return HopBuilder{routes, platform}
        .way(from, to, Routes::Over::any, from.index() + rail)
        .build(Transport::p2p);
  }
  switch (choose_transport(routes, platform, settings, from, to)) {
    case Transport::p2p: {
      const bool nvlink = routes.nvlinks(from, to) > 0;
      auto hop = HopBuilder{routes, platform}
                     .way(from, to, nvlink ? Routes::Over::nvlink : Routes::Over::host)
                     .build(Transport::p2p);
      if (hop) hop->nvlink = nvlink;
      return hop;
    }
    case Transport::shm:
      return shm_hop(routes, platform, from, to);
    case Transport::net:
      return net_hop(routes, platform, settings, from, to, rail);
    case Transport::none:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace gradway
