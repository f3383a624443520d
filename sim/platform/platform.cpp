// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/platform.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {

bool is_endpoint(DeviceKind kind) {
  return kind == DeviceKind::gpu || kind == DeviceKind::nic;
}

std::string Platform::name_of(ResourceId id) const {
  const auto& resource = resources[id.index()];
  switch (resource.kind) {
    case ResourceKind::link:
      return device(links[resource.of].from).name + " -> " + device(links[resource.of].to).name;
    case ResourceKind::host_memory:
      return devices[resource.of].name + " memory";
    case ResourceKind::storage:
      return resource.of == all_nodes ? "storage" : fmt::format("storage of node {}", resource.of);
    case ResourceKind::cores:
      return fmt::format("cores of node {}", resource.of);
    case ResourceKind::gpu:
      break;
  }
  return devices[resource.of].name;
}

std::optional<DeviceId> find_device(const Platform& platform, const std::string& name) {
  const auto device = std::ranges::find(platform.devices, name, &Device::name);
  if (device == platform.devices.end()) return std::nullopt;
  return DeviceId{static_cast<std::size_t>(device - platform.devices.begin())};
}

bool is_between_switches(const Platform& platform, const Link& link) {
  return platform.device(link.from).kind == DeviceKind::fabric_switch &&
         platform.device(link.to).kind == DeviceKind::fabric_switch;
}

}  // namespace gradway
