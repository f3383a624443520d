// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/platform.hpp"

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
    case ResourceKind::gpu:
      break;
  }
  return devices[resource.of].name;
}

}  // namespace gradway
