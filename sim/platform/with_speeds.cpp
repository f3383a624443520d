// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/with_speeds.hpp"

namespace gradway {
namespace {

Part part_of(const Link& link, const Platform& platform) {
  const auto is_nic = [&](DeviceId end) { return platform.device(end).kind == DeviceKind::nic; };
  if (is_nic(link.from) || is_nic(link.to)) return Part::network;
  switch (link.kind) {
    case LinkKind::pcie:
      return Part::pcie;
    case LinkKind::nvlink:
      return Part::nvlink;
    case LinkKind::inter_socket:
      return Part::inter_socket;
    case LinkKind::network:
      return Part::network;
  }
  return Part::network;
}

}  // namespace

std::vector<Part> parts_of_resources(const Platform& platform) {
  std::vector<Part> parts;
  parts.reserve(platform.resources.size());
  for (const auto& resource : platform.resources)
    parts.push_back(resource.kind == ResourceKind::host_memory ? Part::host_memory : Part::gpu);
  for (const auto& link : platform.links) parts[link.resource.index()] = part_of(link, platform);
  return parts;
}

Platform with_speeds(Platform platform, const Speeds& speeds) {
  const auto parts = parts_of_resources(platform);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // A kernel's work is divided where it is lowered: a GPU always gives one second a second.
    platform.resources[i].speed = parts[i] == Part::gpu ? 1 : speeds[parts[i]];
  }
  platform.speeds = speeds;
  return platform;
}

}  // namespace gradway
