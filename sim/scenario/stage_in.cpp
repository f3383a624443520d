// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/stage_in.hpp"

#include <algorithm>
#include <utility>

#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway {
namespace {

Seconds time_of_request(const StorageTier& tier, Bytes request) {
  return tier.first_byte + (tier.per_connection ? request / *tier.per_connection : Seconds{});
}

BytesPerSecond in_total(const StorageTier& tier, BytesPerSecond rate, int nodes) {
  if (tier.burst) rate = std::min(rate, tier.burst->sustained);
  if (tier.is_local()) rate = rate * nodes;
  return tier.per_node ? std::min(rate, *tier.per_node * nodes) : rate;
}

/// Of one direction of the NICs of all nodes.
BytesPerSecond network_rate(const Platform& platform) {
  double rate = 0;
  for (const auto& link : platform.links)
    if (link.kind == LinkKind::network && platform.device(link.to).kind == DeviceKind::nic)
      rate += platform.resources[link.resource.index()].rate();
  return rate > 0 ? BytesPerSecond{rate} : BytesPerSecond::infinite();
}

void add_money(StageInCopy& copy, const StorageTier::Price& cold, const StorageTier::Price& hot) {
  constexpr double million = 1e6;
  const auto gigabytes = copy.bytes.value() / 1e9;
  copy.usd_requests = copy.requests / million * cold.usd_per_million_requests.value_or(0);
  copy.usd_egress = gigabytes * cold.usd_per_gb_out.value_or(0);
  copy.usd_writes = copy.requests / million * hot.usd_per_million_writes.value_or(0) +
                    gigabytes * hot.usd_per_gb_in.value_or(0);
}

}  // namespace

BytesPerSecond rate_of_streams(const StorageTier& tier, Bytes request, double streams) {
  const auto time = time_of_request(tier, request);
  return time > Seconds{} ? request / time * streams : BytesPerSecond::infinite();
}

std::optional<StageInCopy> stage_in_copy(const Job& job, const Platform& platform) {
  const auto& input = job.input;
  if (!input.dataset || !input.staged_from || !input.storage) return std::nullopt;
  const auto& cold = *input.staged_from;
  const auto& hot = *input.storage;
  const auto stored = stored_samples(input);
  const auto gpus_of_node = std::max(1, static_cast<int>(platform.gpus.size()) / platform.nodes);
  StageInCopy copy{.nodes = (job.gpus + gpus_of_node - 1) / gpus_of_node};
  const auto distinct = input.dedup == DedupPlace::network ? 1 - input.dataset->duplicates : 1;
  copy.bytes = stored.size * (input.dataset->samples * distinct * (hot.is_local() ? copy.nodes : 1));
  copy.requests = copy.bytes / stored.request;
  copy.cold = in_total(cold, cold.read, copy.nodes);
  copy.hot_read = in_total(hot, hot.read, copy.nodes);
  copy.hot_write = in_total(hot, hot.write.value_or(hot.read), copy.nodes);
  const auto of_stream = time_of_request(cold, stored.request) + time_of_request(hot, stored.request);
  const std::array<std::pair<StageInLimit, BytesPerSecond>, 5> limits{
      {{StageInLimit::cold_read, copy.cold},
       {StageInLimit::requests, cold.requests_per_second
                                    ? BytesPerSecond{stored.request.value() * *cold.requests_per_second}
                                    : BytesPerSecond::infinite()},
       {StageInLimit::streams, of_stream > Seconds{}
                                   ? stored.request / of_stream * (input.copy_streams * copy.nodes)
                                   : BytesPerSecond::infinite()},
       {StageInLimit::network, input.shares_network ? network_rate(platform) : BytesPerSecond::infinite()},
       {StageInLimit::hot_write, copy.hot_write}}};
  const auto least = std::ranges::min_element(limits, {}, &std::pair<StageInLimit, BytesPerSecond>::second);
  copy.limit = least->first;
  copy.rate = least->second;
  copy.cold = std::min(copy.cold, limits[1].second);
  add_money(copy, cold.price, hot.price);
  return copy;
}

}  // namespace gradway
