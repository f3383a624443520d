// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/data_paths.hpp"

#include <algorithm>

namespace gradway {
namespace {

// Copies of 1 kB and 100 kB to a V100 over PCIe fit 2.5 to 2.8 us + size / rate (microsoft/superbenchmark,
// tests/data cuda_memory_h2d logs at 700d6501). An H200 needs 2.6 us, too (own measurement; 3.1 us for 4
// KiB).
constexpr Seconds copy_latency = 2.6_us;

enum class Direction { from_host, to_host };

std::optional<TransferPath> copy_path(const Routes& routes, const Platform& platform, std::size_t gpu,
                                      Direction direction) {
  const auto socket = routes.home_socket(platform.gpus[gpu]);
  if (!socket || !platform.memories[socket->index()]) return std::nullopt;
  const auto memory = *platform.memories[socket->index()];
  const bool from_host = direction == Direction::from_host;
  TransferPath path{{}, BytesPerSecond::infinite(), copy_latency};
  if (from_host) path.resources.push_back(memory);
  const auto from = from_host ? *socket : platform.gpus[gpu];
  const auto to = from_host ? platform.gpus[gpu] : *socket;
  routes.find(from, to, Routes::Over::host)->append_resources(path.resources);
  if (!from_host) path.resources.push_back(memory);
  for (const auto resource : path.resources) {
    path.slowest = std::min(path.slowest, BytesPerSecond{platform.resources[resource.index()].capacity});
  }
  return path;
}

}  // namespace

std::optional<TransferPath> path_from_host(const Routes& routes, const Platform& platform, std::size_t gpu) {
  return copy_path(routes, platform, gpu, Direction::from_host);
}

std::optional<TransferPath> path_to_host(const Routes& routes, const Platform& platform, std::size_t gpu) {
  return copy_path(routes, platform, gpu, Direction::to_host);
}

std::optional<TransferPath> background_path(const Routes& routes, DeviceId from, DeviceId to) {
  const auto route = routes.find(from, to, Routes::Over::any);
  if (!route || route->links.empty()) return std::nullopt;
  TransferPath path{{}, BytesPerSecond::infinite()};
  route->append_resources(path.resources);
  for (const auto resource : path.resources) {
    const BytesPerSecond rate{routes.platform().resources[resource.index()].rate()};
    path.slowest = std::min(path.slowest, rate);
  }
  return path;
}

std::optional<std::vector<ResourceId>> path_over_nic(const Routes& routes, DeviceId gpu) {
  const auto& platform = routes.platform();
  const auto node = platform.device(gpu).node;
  const auto nics = routes.nearest(gpu, DeviceKind::nic);
  const auto socket = routes.home_socket(gpu);
  if (nics.empty() || !socket) return std::nullopt;
  const auto gpus = routes.on_node(node, DeviceKind::gpu);
  const auto number = static_cast<std::size_t>(std::ranges::find(gpus, gpu) - gpus.begin());
  const auto nic = nics[number % nics.size()];
  std::vector<ResourceId> path;
  for (const auto* out : routes.links_from(nic)) {
    if (out->kind != LinkKind::network) continue;
    if (const auto in = routes.find(out->to, nic, Routes::Over::network)) in->append_resources(path);
  }
  const auto inside = routes.find(nic, *socket, Routes::Over::host);
  if (!inside) return std::nullopt;
  inside->append_resources(path);
  return path;
}

}  // namespace gradway
