// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/with_loading.hpp"

#include <algorithm>

namespace gradway {

Platform with_loading(Platform platform, const std::optional<StorageRates>& storage, int busy_cores) {
  const auto before = platform.resources.size();
  const auto add = [&](ResourceKind kind, std::uint32_t of, double capacity) {
    platform.resources.push_back({kind, of, capacity});
    return ResourceId{platform.resources.size() - 1};
  };
  std::optional<ResourceId> of_all;
  if (storage && !storage->is_local) of_all = add(ResourceKind::storage, everywhere, storage->all.value());
  for (std::uint32_t node = 0; node < static_cast<std::uint32_t>(platform.nodes); ++node) {
    auto& way = platform.loading.emplace_back();
    if (of_all) way.storage.push_back(*of_all);
    const auto own = !storage            ? std::nullopt
                     : storage->is_local ? std::optional{storage->all}
                                         : storage->one_node;
    if (own) way.storage.push_back(add(ResourceKind::storage, node, own->value()));
    if (platform.cores_per_node > 0)
      way.cores = add(ResourceKind::cores, node, std::max(1, platform.cores_per_node - busy_cores));
  }
  platform.loading_resources = platform.resources.size() - before;
  return platform;
}

}  // namespace gradway
