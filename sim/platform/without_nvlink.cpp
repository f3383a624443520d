// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/without_nvlink.hpp"

#include <variant>
#include <vector>

namespace gradway {

PlatformDescription without_nvlink(PlatformDescription platform) {
  auto* built = std::get_if<BuiltPlatform>(&platform.hardware);
  if (built == nullptr) return platform;
  std::erase_if(built->node.links, [](const LinkDescription& link) {
    return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi;
  });
  built->node.nvswitches.clear();
  built->nvlink_domain.reset();
  return platform;
}

}  // namespace gradway
