// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/input/shared_by_loaders.hpp"

#include <algorithm>

#include "sim/platform/with_loading.hpp"

namespace gradway {

void take_input(Job& job, const Model& model) {
  auto& input = job.input;
  if (!input.dataset) return;
  auto& dataset = *input.dataset;
  if (dataset.delivered == 0_B) dataset.delivered = model.input_per_sample;
  if (input.cache && !input.first_epoch) {
    // Each node keeps what its own ranks read, and every epoch brings them other samples.
    const auto all = dataset.sample_size * dataset.samples;
    input.hits = hit_ratio(input.cache->policy, std::min(1.0, input.cache->size / all));
  }
}

Platform with_loaders(Platform platform, const Job& job) {
  const auto& input = job.input;
  if (!input.dataset) return platform;
  const int ranks = std::min<int>(job.gpus, static_cast<int>(platform.gpus.size()) / platform.nodes);
  const auto rates_of = [&](const std::optional<StorageTier>& tier) -> std::optional<StorageRates> {
    if (!tier) return std::nullopt;
    auto all = tier->burst ? tier->burst->sustained : tier->read;
    if (tier->requests_per_second)
      all = std::min(all, BytesPerSecond{request_of(*input.dataset).value() * *tier->requests_per_second});
    return StorageRates{all, tier->per_node, tier->is_local()};
  };
  std::optional<double> cores;
  if (platform.cores_per_node > 0)
    cores = cores_for_loaders(platform.cores_per_node, ranks, ranks * input.loader_workers);
  return with_loading(std::move(platform), rates_of(input.storage),
                      input.cache ? rates_of(input.cache->tier) : std::nullopt, cores);
}

}  // namespace gradway
