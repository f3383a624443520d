// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/background.hpp"

#include <algorithm>

namespace gradway {

std::optional<BackgroundWay> background_way(const Routes& routes, DeviceId from, DeviceId to) {
  const auto route = routes.find(from, to, Routes::Over::any);
  if (!route || route->links.empty()) return std::nullopt;
  BackgroundWay way{{}, BytesPerSecond::infinite()};
  route->append_resources(way.resources);
  for (const auto resource : way.resources) {
    const BytesPerSecond rate{routes.platform().resources[resource.index()].rate()};
    way.slowest = std::min(way.slowest, rate);
  }
  return way;
}

std::optional<DeviceId> find_device(const Platform& platform, const std::string& name) {
  const auto found = std::ranges::find(platform.devices, name, &Device::name);
  if (found == platform.devices.end()) return std::nullopt;
  return DeviceId{static_cast<std::size_t>(found - platform.devices.begin())};
}

}  // namespace gradway
