// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/input/batch_cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/cost/nvjpeg.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/stage_in.hpp"

namespace gradway {
namespace {

/// Reads samples from a tier, or from host memory if there is none.
/// @param requests number of requests that the reader waits for, one after the other
Read read_of(Bytes bytes, double requests, const std::optional<StorageTier>& tier, ReadFrom from) {
  Read read{.bytes = bytes, .from = from};
  if (!tier) return read;
  read.latency = tier->first_byte * requests;
  read.latency_spread = tier->first_byte_spread / std::sqrt(std::max(1.0, requests));
  read.at_most = tier->per_connection.value_or(BytesPerSecond::infinite());
  return read;
}

Seconds& part(BatchCost& cost, LoaderStage stage) {
  return cost.on_core[static_cast<std::size_t>(stage)];
}

/// DALI with decode gpu: nvJPEG, and transforms by kernels that read the image and write the sample twice.
void add_nvjpeg(BatchCost& cost, const Scenario& scenario, Bytes stored, Bytes delivered, double samples) {
  const auto& input = scenario.job.input;
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto image = nvjpeg_cost(stored, input.dataset->pixels, hw_decoder_load_of(input, gpu), gpu);
  part(cost, LoaderStage::decode) += image.cpu * samples;
  cost.gpu += image.gpu * samples;
  if (const auto rate = gpu.memory_bandwidth * gpu.memory_efficiency; rate > BytesPerSecond{})
    cost.gpu += (decoded_on_gpu(input) + delivered * 2) * samples / rate;
  cost.decoder = image.decoder * samples;
  cost.copied = stored * samples;
}

/// Time of the stages that is proportional to the bytes of the samples.
Seconds of_bytes(const BatchCost& cost) {
  const auto core_time = [&](LoaderStage stage) { return cost.on_core[static_cast<std::size_t>(stage)]; };
  return core_time(LoaderStage::decompress) + core_time(LoaderStage::parse) + core_time(LoaderStage::decode);
}

/// Reads coming samples into the cache of the node, from which workers then read all of them.
void read_ahead(BatchCost& cost, const Scenario& scenario, const StoredSamples& stored) {
  const auto& input = scenario.job.input;
  const auto ranks =
      std::min(scenario.job.gpus, static_cast<int>(scenario.platform.gpus.size()) / scenario.platform.nodes);
  cost.ahead = std::exchange(cost.stored, Read{});
  cost.ahead->from = ReadFrom::ahead;
  cost.ahead->latency = {};  // requests in flight overlap it; the rate contains it
  const auto streams = static_cast<double>(input.copy_streams) / ranks;
  if (input.storage) cost.ahead->at_most = rate_of_streams(*input.storage, stored.request, streams);
}

void add_reads(BatchCost& cost, const Scenario& scenario, double samples) {
  const auto& input = scenario.job.input;
  const auto stored = stored_samples(input);
  const auto read = [&](double share, const std::optional<StorageTier>& tier, ReadFrom from) {
    const auto bytes = from == ReadFrom::cache ? stored.cached : stored.read;
    return read_of(bytes * samples * share, stored.waits * samples * share, tier, from);
  };
  const double cold = cold_share(input);
  cost.stored = read((1 - stored.hits) * (1 - cold), input.storage, ReadFrom::storage);
  if (shares_nics(input)) cost.stored.weight = input.storage_weight;
  if (cold > 0) {
    cost.cold = read((1 - stored.hits) * cold, input.staged_from, ReadFrom::cold);
    if (input.shares_network) cost.cold->weight = input.storage_weight;
  }
  if (input.cache_prefetch) read_ahead(cost, scenario, stored);
  const double from_cache = input.cache_prefetch ? 1 : stored.hits;
  if (from_cache > 0) cost.cached = read(from_cache, input.cache->tier, ReadFrom::cache);
  if (input.dataset->format == SampleFormat::mapped)
    part(cost, LoaderStage::page_faults) = (fault_time(stored.size, stored.waits) * (1 - stored.hits) +
                                            fault_time(stored.size, 1) * stored.hits) *
                                           samples;
}

}  // namespace

double hw_decoder_load_of(const InputSettings& input, const Gpu& gpu) {
  constexpr double dali_default = 0.65;
  return input.hw_decoder_load.value_or(gpu.jpeg_decoder > 0 ? dali_default : 0);
}

std::optional<BatchCost> batch_cost(const Scenario& scenario) {
  const auto& input = scenario.job.input;
  if (!input.dataset) return std::nullopt;
  const auto& dataset = *input.dataset;
  const double samples = scenario.job.batch_per_gpu;
  const bool by_dali = input.loader == LoaderKind::dali;
  const auto delivered = dataset.delivered > 0_B ? dataset.delivered : scenario.model.input_per_sample;
  BatchCost cost;
  add_reads(cost, scenario, samples);
  part(cost, LoaderStage::decompress) = (dataset.unpack + stored_samples(input).core) * samples;
  if (dataset.format == SampleFormat::csv)
    part(cost, LoaderStage::parse) = dataset.sample_size * samples / parse_rate(input.csv_parser);
  if (by_dali) {
    // Operators write into the batch, which is copied in pinned memory.
    cost.copied = delivered * samples;
  } else {
    part(cost, LoaderStage::collate) = dataset.cpu.collate * samples;
  }
  if (by_dali && input.decode_on_gpu) {
    add_nvjpeg(cost, scenario, stored_samples(input).size, delivered, samples);
  } else {
    part(cost, LoaderStage::transform) = dataset.cpu.transform * samples;
    (input.decode_on_gpu ? cost.gpu : part(cost, LoaderStage::decode)) +=
        (input.decode_on_gpu ? dataset.gpu_decode : dataset.cpu.decode) * samples;
  }
  cost.core = std::accumulate(cost.on_core.begin(), cost.on_core.end(), Seconds{});
  if (input.draws_sizes) cost.spread = dataset.spread / std::sqrt(samples);
  if (cost.core > Seconds{}) cost.core_share = of_bytes(cost) / cost.core;
  if (const auto rate = scenario.platform.pageable_copy_rate;
      rate && input.pin_memory && input.loader == LoaderKind::pytorch)
    cost.pinned = delivered * samples / *rate;
  return cost;
}

}  // namespace gradway
