// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/with_loading.hpp"

#include <algorithm>

namespace gradway {

double cores_for_loaders(int cores, int trainers, int workers) {
  constexpr double second_thread = 0.5;
  const double threads = trainers + workers;
  const double beyond = std::clamp(threads - cores, 0.0, static_cast<double>(cores));
  return std::max(1.0, cores + second_thread * beyond - trainers);
}

Platform with_loading(Platform platform, const std::optional<StorageRates>& storage,
                      const std::optional<StorageRates>& cache, std::optional<double> cores,
                      const std::optional<StorageRates>& cold) {
  platform.resources.resize(platform.resources.size() - platform.loading_resources);
  platform.loading.clear();
  const auto before = platform.resources.size();
  const auto add = [&](ResourceKind kind, std::uint32_t owner, double capacity) {
    platform.resources.push_back({kind, owner, capacity});
    return ResourceId{platform.resources.size() - 1};
  };
  std::optional<ResourceId> shared;
  if (storage && !storage->is_local) shared = add(ResourceKind::storage, all_nodes, storage->all.value());
  std::optional<ResourceId> shared_cold;
  if (cold) shared_cold = add(ResourceKind::storage, all_nodes, cold->all.value());
  for (std::uint32_t node = 0; node < static_cast<std::uint32_t>(platform.nodes); ++node) {
    auto& path = platform.loading.emplace_back();
    if (shared) path.storage.push_back(*shared);
    const auto node_rate = !storage            ? std::nullopt
                           : storage->is_local ? std::optional{storage->all}
                                               : storage->one_node;
    path.over_nics = storage && storage->over_nics;
    if (node_rate) path.storage.push_back(add(ResourceKind::storage, node, node_rate->value()));
    if (cache) path.cache.push_back(add(ResourceKind::storage, node, cache->all.value()));
    if (shared_cold) path.cold.push_back(*shared_cold);
    if (cold && cold->one_node)
      path.cold.push_back(add(ResourceKind::storage, node, cold->one_node->value()));
    path.cold_over_nics = cold && cold->over_nics;
    if (cores) path.cores = add(ResourceKind::cores, node, *cores);
  }
  platform.loading_resources = platform.resources.size() - before;
  return platform;
}

}  // namespace gradway
