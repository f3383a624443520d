// SPDX-License-Identifier: Apache-2.0
#include "sim/run/network_cores.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace gradway {
namespace {

/// Time per byte by resource: of links to and from a NIC.
std::map<ResourceId, double> time_per_byte(const Platform& platform) {
  constexpr BytesPerSecond receives{42e9 / 8};
  constexpr BytesPerSecond sends{89e9 / 8};
  std::map<ResourceId, double> times;
  for (const auto& link : platform.links) {
    if (link.kind != LinkKind::network) continue;
    if (platform.device(link.to).kind == DeviceKind::nic) times[link.resource] = 1 / receives.value();
    if (platform.device(link.from).kind == DeviceKind::nic) times[link.resource] = 1 / sends.value();
  }
  return times;
}

int node_of(const Platform& platform, ResourceId id) {
  const auto& link = platform.links[platform.resources[id.index()].of];
  return std::max(platform.device(link.from).node, platform.device(link.to).node);
}

}  // namespace

Seconds network_core_time(const Platform& platform, const SteadyRun& run) {
  const auto& network = platform.network;
  if (!network || network->kind != NetworkKind::tcp || network->gpudirect) return {};
  std::vector<double> carried(platform.resources.size(), 0);
  const auto& ops = run.lowered.ops;
  for (const auto& op : ops.ops()) {
    if (op.kind != OpKind::flow || op.origin.activity != Activity::collective) continue;
    if (!run.window.has(op.origin.step)) continue;
    for (const auto id : ops.path(op.path)) carried[id.index()] += op.amount;
  }
  const auto& representative = run.lowered.folding.resources;
  std::map<int, double> by_node;
  for (const auto& [id, time] : time_per_byte(platform))
    by_node[node_of(platform, id)] += carried[representative.of(id).index()] * time;
  double most = 0;
  for (const auto& [node, time] : by_node) most = std::max(most, time);
  return Seconds{most / run.window.steps};
}

double share_cores_with_network(Platform& platform, const Loading& loading, Seconds step, Seconds network) {
  double taken = 0;
  for (const auto& path : platform.loading) {
    if (!path.cores) continue;
    auto& resource = platform.resources[path.cores->index()];
    const auto capacity = resource.capacity;
    const auto loaders = step * (capacity * loading.cores_busy.value_or(0));
    const auto remaining = std::max(capacity - network / step, capacity * (loaders / (loaders + network)));
    taken = std::max(taken, capacity - remaining);
    resource.capacity = remaining;
  }
  return taken;
}

}  // namespace gradway
