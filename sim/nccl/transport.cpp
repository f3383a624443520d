// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/transport.hpp"

#include "sim/nccl/net_hop.hpp"

namespace gradway {
namespace {

std::optional<Hop> shm_hop(const Routes& routes, const Platform& platform, DeviceId from, DeviceId to) {
  const auto socket = routes.home_socket(to);
  if (!socket) return std::nullopt;
  return HopBuilder{routes, platform}
      .route(from, *socket, Routes::Over::host)
      .through_memory(*socket)
      .route(*socket, to, Routes::Over::host)
      .build(Transport::shm);
}

}  // namespace

Transport choose_transport(const Routes& routes, const Platform& platform, const NcclSettings& settings,
                           DeviceId a, DeviceId b) {
  if (platform.collectives == CollectiveRules::ideal) return Transport::p2p;
  const bool same_node = platform.device(a).node == platform.device(b).node;
  const bool same_domain = platform.nvlink_domain(a) == platform.nvlink_domain(b);
  const auto level = settings.p2p_disable ? PathType::self : settings.p2p_level.value_or(PathType::pxb);
  if (same_domain && routes.path_type(a, b) <= level) return Transport::p2p;
  if (same_node && !settings.shm_disable && routes.home_socket(b)) return Transport::shm;
  return have_nics(routes, a, b) ? Transport::net : Transport::none;
}

bool may_relay(const Platform& platform, const NcclSettings& settings) {
  return platform.collectives != CollectiveRules::ideal && !settings.nvb_disable && !settings.p2p_disable &&
         settings.p2p_level.value_or(PathType::pxb) > PathType::nvlink;
}

std::optional<Hop> make_hop(const Routes& routes, const Platform& platform, const NetRules& rules,
                            DeviceId from, DeviceId to, std::size_t rail, std::optional<DeviceId> relay) {
  if (platform.collectives == CollectiveRules::ideal) {
    return HopBuilder{routes, platform}
        .route(from, to, Routes::Over::any, from.index() + rail)
        .build(Transport::p2p);
  }
  const auto& settings = rules.settings;
  if (relay && may_relay(platform, settings)) {
    auto hop = HopBuilder{routes, platform}
                   .route(from, *relay, Routes::Over::nvlink)
                   .route(*relay, to, Routes::Over::nvlink)
                   .build(Transport::p2p);
    if (hop) hop->nvlink = hop->relayed = true;
    return hop;
  }
  switch (choose_transport(routes, platform, settings, from, to)) {
    case Transport::p2p: {
      const bool nvlink = routes.nvlinks(from, to) > 0;
      auto hop = HopBuilder{routes, platform}
                     .route(from, to, nvlink ? Routes::Over::nvlink : Routes::Over::host)
                     .build(Transport::p2p);
      if (hop) hop->nvlink = nvlink;
      return hop;
    }
    case Transport::shm:
      return shm_hop(routes, platform, from, to);
    case Transport::net:
      return net_hop(routes, rules, from, to, rail);
    case Transport::none:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace gradway
