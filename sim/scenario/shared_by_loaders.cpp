// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/shared_by_loaders.hpp"

#include <algorithm>

#include "sim/platform/with_loading.hpp"
#include "sim/scenario/stage_in.hpp"

namespace gradway {

namespace {

struct Compressed {
  bool store = false, network = false, cache = false;
};

Compressed compressed_in(const InputSettings& input) {
  if (!input.codec) return {};
  switch (input.codec_in) {
    case CodecPlace::everywhere:
      return {true, true, true};
    case CodecPlace::store_and_network:
      return {.store = true, .network = true};
    case CodecPlace::store:
      return {.store = true};
    case CodecPlace::network:
      return {.network = true};
    case CodecPlace::cache:
      return {.cache = true};
  }
  return {};
}

/// Hit ratio of a cache that holds this share of the distinct pieces. A node that knows which pieces are
/// equal finds duplicates of cached ones in the first epoch, too.
double hits_of(const InputSettings& input, double cached) {
  if (!input.first_epoch) return hit_ratio(input.cache->policy, cached);
  if (input.dedup != DedupPlace::network) return 0;
  return input.dataset->duplicates * std::min(1.0, cached);
}

/// Of a sample of `plain` bytes, whose share `hits` is read from the cache.
Seconds core_time(const InputSettings& input, const Compressed& compressed, Bytes plain, double hits) {
  Seconds time{};
  if (compressed.network) time += plain * (1 - hits) / input.codec->decompressed;
  if (compressed.cache) time += plain * hits / input.codec->decompressed;
  if (compressed.cache && !compressed.network) time += plain * (1 - hits) / input.codec->compressed;
  if (input.dedup == DedupPlace::cache) time += plain * (1 - hits) / hash_rate;
  return time;
}

}  // namespace

StoredSamples stored_samples(const InputSettings& input) {
  const auto& dataset = *input.dataset;
  const auto plain = dataset.sample_size;
  const auto packed = plain / (input.codec && dataset.compressible ? input.codec->ratio : 1);
  const auto compressed = compressed_in(input);
  const double distinct = 1 - dataset.duplicates;
  StoredSamples stored;
  stored.size = compressed.network ? packed : plain;
  stored.read = stored.size;
  stored.request = request_of(dataset, stored.size);
  stored.waits = stored.size / stored.request;
  if (dataset.format == SampleFormat::mapped) {
    const auto mapped = mapped_sample(stored.size, input.read_ahead, input.access);
    stored.read = mapped.read;
    stored.request = mapped.request;
    stored.waits = mapped.waits;
  }
  stored.kept = (compressed.store ? packed : plain) * (input.dedup == DedupPlace::none ? 1 : distinct);
  stored.cached = compressed.cache ? packed : plain;
  const bool dedups_cache = input.dedup == DedupPlace::cache || input.dedup == DedupPlace::network;
  stored.in_cache = stored.cached * (dedups_cache ? distinct : 1);
  if (input.cache) stored.hits = hits_of(input, input.cache->size / (stored.in_cache * dataset.samples));
  stored.core = core_time(input, compressed, plain, stored.hits);
  return stored;
}

double cold_share(const InputSettings& input) {
  if (!input.staged_from) return 0;
  return input.unstaged.value_or(input.stage_in == StageIn::during && input.first_epoch ? 1 : 0);
}

const std::optional<StorageTier>& tier_of_reads(const InputSettings& input) {
  return cold_share(input) > 0 ? input.staged_from : input.storage;
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
  const auto gb_stored = stored.kept.value() / gigabyte / input.dataset->rows_read * rows.samples;
  const auto requests = price.usd_per_million_requests.value_or(0) / million * (stored.read / stored.request);
  const auto egress = price.usd_per_gb_out.value_or(0) * stored.read.value() / gigabyte;
  return SamplesCost{.usd_per_s = price.usd_per_gb_month.value_or(0) * gb_stored / seconds_of_a_month,
                     .usd_of_requests = requests * (1 - stored.hits),
                     .usd_of_egress = egress * (1 - stored.hits),
                     .usd_of_filling = (requests + egress) * stored.hits * input.dataset->samples};
}

std::optional<StorageUsd> storage_usd_per_million_samples(const InputSettings& input, double samples_per_s) {
  constexpr double million = 1e6;
  const auto cost = samples_cost(input);
  if (!cost) return std::nullopt;
  return StorageUsd{.keeping = cost->usd_per_s / samples_per_s * million,
                    .requests = cost->usd_of_requests * million,
                    .egress = cost->usd_of_egress * million};
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

namespace {

/// A half is left to the loaders.
BytesPerSecond left_by(BytesPerSecond copy, BytesPerSecond bandwidth) {
  return bandwidth - std::min(copy, bandwidth * 0.5);
}

void slow_down(StorageRates& rates, double factor) {
  rates.all = rates.all * factor;
  if (rates.one_node) rates.one_node = *rates.one_node * factor;
}

StorageRates rates_of(const StorageTier& tier, Bytes request) {
  auto rate = tier.burst ? tier.burst->sustained : tier.read;
  if (tier.requests_per_second)
    rate = std::min(rate, BytesPerSecond{request.value() * *tier.requests_per_second});
  return {rate, tier.per_node, tier.is_local()};
}

}  // namespace

Platform with_loaders(Platform platform, const Job& job) {
  const auto& input = job.input;
  if (!input.dataset) return platform;
  const int ranks = std::min<int>(job.gpus, static_cast<int>(platform.gpus.size()) / platform.nodes);
  const auto request = stored_samples(input).request;
  const auto rates = [&](const std::optional<StorageTier>& tier) {
    return tier ? std::optional{rates_of(*tier, request)} : std::nullopt;
  };
  std::optional<double> cores;
  if (platform.cores_per_node > 0)
    cores = cores_for_loaders(platform.cores_per_node, ranks, ranks * input.loader_workers);
  auto storage = rates(input.storage);
  if (storage) storage->over_nics = shares_nics(input);
  std::optional<StorageRates> cold;
  if (cold_share(input) > 0) {
    const auto copy = *stage_in_copy(job, platform);
    cold = rates(input.staged_from);
    cold->over_nics = input.shares_network;
    slow_down(*cold, left_by(copy.rate, copy.cold) / copy.cold);
    slow_down(*storage, left_by(copy.rate, copy.hot_write) / copy.hot_write);
  }
  return with_loading(std::move(platform), storage, input.cache ? rates(input.cache->tier) : std::nullopt,
                      cores, cold);
}

}  // namespace gradway
