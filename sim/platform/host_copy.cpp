// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/host_copy.hpp"

#include <algorithm>

namespace gradway {
namespace {

// Copies of 1 kB and 100 kB to a V100 over PCIe fit 2.5 to 2.8 us + size / rate (microsoft/superbenchmark,
// tests/data cuda_memory_h2d logs at 700d6501); 2.6 us is also what we measured on an H200 (3.1 us for 4
// KiB).
constexpr Seconds copy_latency = 2.6_us;

std::optional<HostCopyWay> way_of(const Routes& routes, const Platform& platform, std::size_t gpu,
                                  bool is_in) {
  const auto socket = routes.home_socket(platform.gpus[gpu]);
  if (!socket || !platform.memories[socket->index()]) return std::nullopt;
  const auto memory = *platform.memories[socket->index()];
  HostCopyWay way{{}, BytesPerSecond::infinite(), copy_latency};
  if (is_in) way.resources.push_back(memory);
  const auto from = is_in ? *socket : platform.gpus[gpu];
  const auto to = is_in ? platform.gpus[gpu] : *socket;
  routes.find(from, to, Routes::Over::host)->append_resources(way.resources);
  if (!is_in) way.resources.push_back(memory);
  for (const auto resource : way.resources) {
    way.slowest = std::min(way.slowest, BytesPerSecond{platform.resources[resource.index()].capacity});
  }
  return way;
}

}  // namespace

std::optional<HostCopyWay> host_copy_way(const Routes& routes, const Platform& platform, std::size_t gpu) {
  return way_of(routes, platform, gpu, true);
}

std::optional<HostCopyWay> way_to_host(const Routes& routes, const Platform& platform, std::size_t gpu) {
  return way_of(routes, platform, gpu, false);
}

}  // namespace gradway
