// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/shared_by_loaders.hpp"

#include <algorithm>

#include "sim/platform/with_loading.hpp"

namespace gradway {

StoredSamples stored_samples(const InputSettings& input) {
  const auto& dataset = *input.dataset;
  StoredSamples stored;
  stored.size = dataset.sample_size / (input.codec && dataset.compressible ? input.codec->ratio : 1);
  stored.read = stored.size;
  stored.request = request_of(dataset, stored.size);
  stored.waits = stored.size / stored.request;
  if (dataset.format == SampleFormat::mapped) {
    const auto mapped = mapped_sample(stored.size, input.read_ahead, input.access);
    stored.read = mapped.read;
    stored.request = mapped.request;
    stored.waits = mapped.waits;
  }
  if (input.cache && !input.first_epoch)
    stored.hits = hit_ratio(input.cache->policy, input.cache->size / (stored.size * dataset.samples));
  return stored;
}

std::optional<SamplesCost> samples_cost(const InputSettings& input) {
  if (!input.dataset || !input.storage || !input.storage->price.is_known()) return std::nullopt;
  constexpr double million = 1e6;
  constexpr double gigabyte = 1e9;
  constexpr double seconds_of_a_month = 365.25 / 12 * 86400;
  const auto& price = input.storage->price;
  const auto stored = stored_samples(input);
  // A predicate selects rows, but all of them are stored.
  const auto rows = without_predicate(*input.dataset);
  const double gb_stored = stored.size.value() / input.dataset->rows_read * rows.samples / gigabyte;
  const double gb_of_a_sample = stored.read.value() / gigabyte;
  const double usd_of_a_read =
      price.usd_per_million_requests.value_or(0) / million * (stored.read / stored.request) +
      price.usd_per_gb_out.value_or(0) * gb_of_a_sample;
  return SamplesCost{.usd_per_s = price.usd_per_gb_month.value_or(0) * gb_stored / seconds_of_a_month,
                     .usd_of_sample = usd_of_a_read * (1 - stored.hits),
                     .usd_of_filling = usd_of_a_read * stored.hits * input.dataset->samples};
}

std::optional<double> storage_usd_per_million_samples(const InputSettings& input, double samples_per_s) {
  constexpr double million = 1e6;
  const auto cost = samples_cost(input);
  if (!cost) return std::nullopt;
  return (cost->usd_per_s / samples_per_s + cost->usd_of_sample) * million;
}

int loader_threads_of_a_rank(const Platform& platform, int gpus) {
  constexpr int threads_of_a_core = 2;
  constexpr int most_where_cores_are_not_known = 16;
  const int ranks = std::min(gpus, std::max(1, static_cast<int>(platform.gpus.size()) / platform.nodes));
  return platform.cores_per_node > 0 ? std::max(1, threads_of_a_core * platform.cores_per_node / ranks)
                                     : most_where_cores_are_not_known;
}

bool delivers_to_gpu(const InputSettings& input) {
  return input.dataset && input.loader == LoaderKind::dali;
}

Bytes decoded_on_gpu(const InputSettings& input) {
  constexpr double channels = 3;
  return delivers_to_gpu(input) && input.decode_on_gpu ? Bytes{input.dataset->pixels * channels} : Bytes{};
}

bool shares_nics(const InputSettings& input) {
  return input.shares_network && input.dataset && input.storage && !input.storage->is_local();
}

Platform with_loaders(Platform platform, const Job& job) {
  const auto& input = job.input;
  if (!input.dataset) return platform;
  const int ranks = std::min<int>(job.gpus, static_cast<int>(platform.gpus.size()) / platform.nodes);
  const auto rates_of = [&](const std::optional<StorageTier>& tier) -> std::optional<StorageRates> {
    if (!tier) return std::nullopt;
    auto all = tier->burst ? tier->burst->sustained : tier->read;
    if (tier->requests_per_second)
      all = std::min(all, BytesPerSecond{stored_samples(input).request.value() * *tier->requests_per_second});
    return StorageRates{all, tier->per_node, tier->is_local()};
  };
  std::optional<double> cores;
  if (platform.cores_per_node > 0)
    cores = cores_for_loaders(platform.cores_per_node, ranks, ranks * input.loader_workers);
  auto storage = rates_of(input.storage);
  if (storage) storage->over_nics = shares_nics(input);
  return with_loading(std::move(platform), storage, input.cache ? rates_of(input.cache->tier) : std::nullopt,
                      cores);
}

}  // namespace gradway
