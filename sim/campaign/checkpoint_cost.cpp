// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/checkpoint_cost.hpp"

#include <algorithm>

namespace gradway {
namespace {

constexpr Bytes gigabyte{1e9};
/// Rate at which a process allocates pinned memory. @source own measurements, PyTorch 2.11: H200, 5.67 GB
/// in 2.58 s (2026-11-22); H100, 1 GB in 0.50 s and 4 GB in 2.21 s (2026-11-25)
constexpr BytesPerSecond pinned_allocation{2.0e9};
/// Rate at which a rank copies into newly allocated pageable memory, page by page. @source own
/// measurements, PyTorch 2.11, dcp.async_save: each of two H200 8.5 GB in 6.65 s; each of two H100 6 GB
/// in 4.3 to 4.9 s, the first, second and third time; one H100 6 GB in 3.3 to 4.0 s. Tensors below 32 MiB,
/// which the allocator keeps, reach 5 GB/s from the second or third time on
constexpr BytesPerSecond pageable_copy{1.3e9};
/// Copy rate into pinned memory: half of PCIe Gen5 x16 (55 GB/s, ml-engineering 744d01e1), because two GPUs
/// often share an uplink.
constexpr BytesPerSecond pinned_copy{25e9};
constexpr double seconds_per_month = 730 * 3600;  // as clouds bill it

/// Limits the rate of a tier by the rate of each rank, if one is given.
BytesPerSecond limited(BytesPerSecond storage, const CheckpointSettings& settings, int ranks) {
  if (!settings.per_rank) return storage;
  return std::min(storage, *settings.per_rank * ranks);
}

/// First byte, and one opened file per rank.
Seconds overhead_of(const StorageTier& tier, int nodes, int ranks) {
  const auto files = tier.requests_per_second
                         ? Seconds{ranks / (*tier.requests_per_second * (tier.is_local() ? nodes : 1))}
                         : Seconds{};
  return tier.first_byte + files;
}

struct Transfer {
  Seconds write{}, read{};
};

Transfer transfer_of(const CheckpointSettings& settings, Bytes size, int nodes, int ranks) {
  if (!settings.storage)
    return {size / limited(settings.write, settings, ranks),
            size / limited(settings.read.value_or(settings.write), settings, ranks)};
  const auto& tier = *settings.storage;
  const auto time = [&](TransferDirection direction) {
    return size / limited(tier_rate(tier, direction, nodes, ranks), settings, ranks) +
           overhead_of(tier, nodes, ranks);
  };
  return {time(TransferDirection::write), time(TransferDirection::read)};
}

void add_money(CheckpointCost& cost, const CheckpointSettings& settings) {
  if (!settings.storage) return;
  const auto& tier = *settings.storage;
  cost.keep = settings.keep;
  cost.usd_per_s = cost.size / gigabyte * tier.price.usd_per_gb_month.value_or(0) / seconds_per_month;
  cost.usd_of_reading = cost.size / gigabyte * tier.price.usd_per_gb_out.value_or(0);
}

}  // namespace

BytesPerSecond tier_rate(const StorageTier& tier, TransferDirection direction, int nodes, int ranks) {
  auto rate = direction == TransferDirection::write ? tier.write.value_or(tier.read) : tier.read;
  if (tier.burst) rate = std::min(rate, tier.burst->sustained);
  if (tier.is_local()) rate = rate * nodes;
  if (tier.per_node) rate = std::min(rate, *tier.per_node * nodes);
  if (tier.per_connection) rate = std::min(rate, *tier.per_connection * ranks);
  return rate;
}

double loader_share(const Scenario& scenario, const Metrics& metrics) {
  const auto& data = scenario.job.input.storage;
  const auto& checkpoint = scenario.campaign->checkpoint;
  if (!data || !metrics.loading || !checkpoint || !checkpoint->storage || !(metrics.step_time > Seconds{}))
    return 0;
  if (data->is_local() || data->name.empty() || data->name != checkpoint->storage->name) return 0;
  return metrics.loading->read / metrics.step_time / data->read;
}

Staging staging_of(const CheckpointSettings& settings, const Job& job) {
  const bool keeps = settings.device_copy.has_value() || job.framework == Framework::megatron;
  return settings.staging.value_or(keeps ? Staging::pinned : Staging::pageable);
}

CheckpointCost checkpoint_cost(const CheckpointSettings& settings, const Scenario& scenario,
                               const Metrics& metrics, int nodes) {
  const auto ranks = scenario.job.gpus;
  const auto writers = settings.sharded ? ranks : 1;
  CheckpointCost cost{.size = settings.size.value_or(checkpoint_size(scenario))};
  const auto transfer = transfer_of(settings, cost.size, settings.sharded ? nodes : 1, writers);
  cost.read = ticks_of(transfer.read);
  add_money(cost, settings);
  if (settings.mode == SaveMode::sync) {
    cost.pause = ticks_of(transfer.write + settings.overhead);
    return cost;
  }
  const auto fair_share = 1 / (1 + settings.weight);  // of the loaders
  const auto data = loader_share(scenario, metrics);
  const auto shard = cost.size / writers;
  const bool is_pinned = staging_of(settings, scenario.job) == Staging::pinned;
  const auto rate = settings.device_copy.value_or(is_pinned ? pinned_copy : pageable_copy);
  cost.pause = ticks_of(shard / rate + settings.overhead);
  if (is_pinned) cost.allocation = ticks_of(shard / pinned_allocation);
  cost.write = ticks_of(transfer.write / (1 - std::min(data, fair_share)));
  cost.slowdown = settings.slowdown * std::max(1.0, data / fair_share);
  return cost;
}

}  // namespace gradway
