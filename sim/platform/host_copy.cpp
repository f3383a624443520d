// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/host_copy.hpp"

#include <algorithm>

namespace gradway {
namespace {

// Copies of 1 kB and 100 kB to a V100 over PCIe fit 2.5 to 2.8 us + size / rate (microsoft/superbenchmark,
// tests/data cuda_memory_h2d logs at 700d6501); 2.6 us is also what we measured on an H200 (3.1 us for 4
// KiB).
constexpr Seconds copy_latency = 2.6_us;

}  // namespace

std::optional<HostCopyWay> host_copy_way(const Routes& routes, const Platform& platform, std::size_t gpu) {
  const auto socket = routes.home_socket(platform.gpus[gpu]);
  if (!socket || !platform.memories[socket->index()]) return std::nullopt;
  HostCopyWay way{{*platform.memories[socket->index()]}, BytesPerSecond::infinite(), copy_latency};
  routes.find(*socket, platform.gpus[gpu], Routes::Over::host)->append_resources(way.resources);
  for (const auto resource : way.resources) {
    way.slowest = std::min(way.slowest, BytesPerSecond{platform.resources[resource.index()].capacity});
  }
  return way;
}

}  // namespace gradway
