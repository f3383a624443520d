// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/platform.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {

bool is_endpoint(DeviceKind kind) {
  return kind == DeviceKind::gpu || kind == DeviceKind::nic;
}

std::string Platform::name_of(DeviceId id) const {
  const auto& [parts, repeated, others] = device_names;
  const auto in_nodes = repeated * parts.size();
  if (id.index() >= in_nodes) return others[id.index() - in_nodes];
  return fmt::format("node{}.{}", id.index() / parts.size(), parts[id.index() % parts.size()]);
}

std::string Platform::name_of(ResourceId id) const {
  const auto& resource = resources[id.index()];
  switch (resource.kind) {
    case ResourceKind::link:
      return name_of(links[resource.of].from) + " -> " + name_of(links[resource.of].to);
    case ResourceKind::host_memory:
      return name_of(DeviceId{resource.of}) + " memory";
    case ResourceKind::storage:
      return resource.of == all_nodes ? "storage" : fmt::format("storage of node {}", resource.of);
    case ResourceKind::cores:
      return fmt::format("cores of node {}", resource.of);
    case ResourceKind::gpu:
      break;
  }
  return name_of(DeviceId{resource.of});
}

std::optional<DeviceId> find_device(const Platform& platform, const std::string& name) {
  for (std::size_t i = 0; i < platform.devices.size(); ++i)
    if (platform.name_of(DeviceId{i}) == name) return DeviceId{i};
  return std::nullopt;
}

bool is_between_switches(const Platform& platform, const Link& link) {
  return platform.device(link.from).kind == DeviceKind::fabric_switch &&
         platform.device(link.to).kind == DeviceKind::fabric_switch;
}

}  // namespace gradway
