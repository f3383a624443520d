// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/with_speeds.hpp"

namespace gradway {
namespace {

HardwarePart part_of(const Link& link, const Platform& platform) {
  const auto is_nic = [&](DeviceId end) { return platform.device(end).kind == DeviceKind::nic; };
  if (is_nic(link.from) || is_nic(link.to)) return HardwarePart::network;
  switch (link.kind) {
    case LinkKind::pcie:
    case LinkKind::c2c:
      return HardwarePart::pcie;
    case LinkKind::nvlink:
    case LinkKind::xgmi:
      return HardwarePart::nvlink;
    case LinkKind::inter_socket:
      return HardwarePart::inter_socket;
    case LinkKind::network:
      return HardwarePart::network;
  }
  return HardwarePart::network;
}

}  // namespace

std::vector<HardwarePart> parts_of_resources(const Platform& platform) {
  std::vector<HardwarePart> parts;
  parts.reserve(platform.resources.size());
  for (const auto& resource : platform.resources)
    parts.push_back(resource.kind == ResourceKind::host_memory ? HardwarePart::host_memory
                                                               : HardwarePart::gpu);
  for (const auto& link : platform.links) parts[link.resource.index()] = part_of(link, platform);
  return parts;
}

Platform with_speeds(Platform platform, const SpeedFactors& speeds) {
  if (platform.speeds == speeds) return platform;
  const auto parts = parts_of_resources(platform);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // The capacity of a GPU is always 1. Its speed divides the work of kernels when they are lowered.
    platform.resources[i].speed = parts[i] == HardwarePart::gpu ? 1 : speeds[parts[i]];
  }
  platform.speeds = speeds;
  return platform;
}

}  // namespace gradway
