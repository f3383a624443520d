// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/net_hop.hpp"

#include <algorithm>

#include "sim/nccl/transport.hpp"

namespace gradway {
namespace {

class NetHop {
 public:
  NetHop(const Routes& routes, const NetRules& rules)
      : routes_{routes},
        platform_{routes.platform()},
        rules_{rules},
        settings_{rules.settings},
        hop_{routes, platform_} {}

  std::optional<Hop> make(DeviceId from, DeviceId to, std::size_t rail) {
    const auto ends = find_ends(from, to, rail);
    if (!ends) return std::nullopt;
    if (ends->sender != from) hop_.route(from, ends->sender, Routes::Over::nvlink);
    reach_nic(ends->sender, ends->out, ends->sender, can_be_read(ends->sender));
    if (ends->out != ends->in) hop_.route(ends->out, ends->in, Routes::Over::network, rail);
    reach_nic(ends->in, to, to, true);
    return hop_.build(Transport::net);
  }

  struct Ends {
    DeviceId sender;  ///< the GPU that hands the data to the NIC
    DeviceId out;
    DeviceId in;
  };
  /// @return empty if a node has no NIC
  std::optional<Ends> find_ends(DeviceId from, DeviceId to, std::size_t rail) const {
    auto sender = from;
    auto out = rail_nic(from, rail);
    if (rules_.leaves_by_own_nic) {
      out = nearest_nic(from, rail);
    } else if (out && !is_near(from, *out)) {
      if (const auto proxy = proxy_gpu(from, *out)) {
        sender = *proxy;
      } else if (settings_.cross_nic != 0) {
        out = nearest_nic(from, rail);
      }
    }
    auto in = rail_nic(to, rail);
    if (in && !is_near(to, *in) && settings_.cross_nic != 0) in = nearest_nic(to, rail);
    if (!out || !in) return std::nullopt;
    return Ends{sender, *out, *in};
  }

 private:
  bool is_near(DeviceId gpu, DeviceId nic) const { return routes_.path_type(gpu, nic) <= PathType::pxb; }

  std::optional<DeviceId> rail_nic(DeviceId gpu, std::size_t rail) const {
    const auto nics = routes_.on_node(platform_.device(gpu).node, DeviceKind::nic);
    return nics.empty() ? std::nullopt : std::optional{nics[rail % nics.size()]};
  }

  /// The nearest NIC; among several, the one that the rail selects.
  std::optional<DeviceId> nearest_nic(DeviceId gpu, std::size_t rail) const {
    const auto nearest = routes_.nearest(gpu, DeviceKind::nic);
    return nearest.empty() ? std::nullopt : std::optional{nearest[rail % nearest.size()]};
  }

  bool may_forward(DeviceId gpu) const {
    return rules_.proxies == nullptr ||
           std::ranges::binary_search(*rules_.proxies, gpu, {},
                                      [&](std::size_t number) { return platform_.gpus[number]; });
  }

  /// A GPU of the node that may forward data, is near the NIC and has NVLinks to this one.
  std::optional<DeviceId> proxy_gpu(DeviceId gpu, DeviceId nic) const {
    if (settings_.pxn_disable) return std::nullopt;
    for (const auto proxy : routes_.on_node(platform_.device(gpu).node, DeviceKind::gpu)) {
      if (may_forward(proxy) && proxy != gpu && is_near(proxy, nic) && routes_.nvlinks(gpu, proxy) > 0)
        return proxy;
    }
    return std::nullopt;
  }

  /// Whether NICs may read the memory of this GPU.
  bool can_be_read(DeviceId gpu) const {
    if (settings_.net_gdr_read) return *settings_.net_gdr_read;
    constexpr int a100 = 80;
    const auto& model = platform_.gpu_models.front();
    if (model.is_amd() || model.compute_capability >= a100) return true;
    const auto node_gpus = routes_.on_node(platform_.device(gpu).node, DeviceKind::gpu);
    return std::ranges::any_of(node_gpus,
                               [&](DeviceId peer) { return peer != gpu && routes_.nvlinks(gpu, peer) > 0; });
  }

  /// Adds the path between a GPU and its NIC, in either direction.
  void reach_nic(DeviceId from, DeviceId to, DeviceId gpu, bool may_be_direct) {
    const auto level = settings_.net_gdr_level.value_or(PathType::pxb);
    const bool can = !platform_.network || platform_.network->gpudirect;
    const auto socket = routes_.home_socket(gpu);
    const bool is_near = routes_.path_type(from, to) <= level || (settings_.net_gdr_c2c && has_c2c(from, to));
    if (!socket || (can && may_be_direct && is_near)) {
      hop_.route(from, to, Routes::Over::host);
      return;
    }
    const bool has_sockets = platform_.network && platform_.network->kind == NetworkKind::tcp;
    hop_.route(from, *socket, Routes::Over::host)
        .through_memory(*socket, has_sockets ? 2 : 1)
        .route(*socket, to, Routes::Over::host);
  }

  /// Whether the path between a GPU and a NIC leads over a C2C link of the NIC's own CPU.
  /// @source NCCL 2.27.3, src/graph/paths.cc: NCCL_NET_GDR_C2C, 1 by default (0 in 2.26), and PATH_P2C
  bool has_c2c(DeviceId from, DeviceId to) const {
    const auto route = routes_.find(from, to, Routes::Over::host);
    return route && routes_.path_type(from, to) == PathType::phb &&
           std::ranges::any_of(route->links, [](const Link* link) { return link->kind == LinkKind::c2c; });
  }

  const Routes& routes_;
  const Platform& platform_;
  const NetRules& rules_;
  const NcclSettings& settings_;
  HopBuilder hop_;
};

}  // namespace

bool have_nics(const Routes& routes, DeviceId a, DeviceId b) {
  const auto has = [&](DeviceId gpu) {
    return !routes.on_node(routes.platform().device(gpu).node, DeviceKind::nic).empty();
  };
  return has(a) && has(b);
}

std::optional<Hop> net_hop(const Routes& routes, const NetRules& rules, DeviceId from, DeviceId to,
                           std::size_t rail) {
  return NetHop{routes, rules}.make(from, to, rail);
}

std::optional<SeparateNics> separate_nics(const Routes& routes, const NetRules& rules, DeviceId from,
                                          DeviceId to, std::size_t rail) {
  const auto ends = NetHop{routes, rules}.find_ends(from, to, rail);
  if (!ends || ends->out == ends->in || routes.find(ends->out, ends->in, Routes::Over::network, rail))
    return std::nullopt;
  return SeparateNics{ends->out, ends->in};
}

}  // namespace gradway
