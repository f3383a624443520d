// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/storage_cost.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

constexpr double gigabyte = 1e9;
constexpr Seconds month{730 * 3600.0};

constexpr std::array aws_prices{TrafficPrice{100_GB, 0}, TrafficPrice{10'000_GB, 0.09},
                                TrafficPrice{50'000_GB, 0.085}, TrafficPrice{150'000_GB, 0.07},
                                TrafficPrice{500'000_GB, 0.05}};

}  // namespace

BytesPerSecond connection_rate(Bytes request, Seconds first_byte, BytesPerSecond rate) {
  return request / (first_byte + request / rate);
}

double connections_needed(BytesPerSecond target, BytesPerSecond of_connection) {
  return target / of_connection;
}

double in_flight(double per_second, Seconds time) {
  return per_second * time.value();
}

double request_rate(const RequestLimits& limits, Bytes request, Seconds time) {
  auto least = std::numeric_limits<double>::infinity();
  if (limits.per_second) least = std::min(least, *limits.per_second);
  if (limits.bandwidth) least = std::min(least, 1 / (request / *limits.bandwidth).value());
  if (limits.connections) least = std::min(least, *limits.connections / time.value());
  return least;
}

Seconds burst_time(const TokenBucket& bucket) {
  return bucket.credit / (bucket.burst - bucket.sustained);
}

BytesPerSecond mean_rate(const TokenBucket& bucket, Seconds over) {
  if (over <= burst_time(bucket)) return bucket.burst;
  return (bucket.credit + bucket.sustained * over) / over;
}

BytesPerSecond packed_rate(BytesPerSecond link, const Codec& codec, double cores, Unpacking when) {
  const auto carried = link * codec.ratio;
  const auto unpacked = codec.decompressed * cores;
  if (when == Unpacking::beside_transfer) return std::min(carried, unpacked);
  return BytesPerSecond{1 / (1 / carried.value() + 1 / unpacked.value())};
}

BytesByTier bytes_by_tier(Bytes data, double epochs, double hits) {
  const auto again = data * (epochs - 1);
  return {.storage = data + again * (1 - hits), .cache = again * hits};
}

Seconds reading_time(const BytesByTier& read, BytesPerSecond storage, BytesPerSecond cache) {
  return read.storage / storage + read.cache / cache;
}

double usd_to_keep(Bytes data, Seconds time, double usd_per_gb_month) {
  return data.value() / gigabyte * (time / month) * usd_per_gb_month;
}

std::span<const TrafficPrice> aws_to_internet() {
  return aws_prices;
}

double usd_of_traffic(Bytes traffic, std::span<const TrafficPrice> prices) {
  expects(!prices.empty(), "traffic has a price");
  double usd = 0;
  Bytes paid{};
  for (const auto& part : prices) {
    const bool is_last = &part == &prices.back();
    const auto up_to = is_last ? traffic : std::min(part.up_to, traffic);
    usd += std::max(up_to - paid, Bytes{}).value() / gigabyte * part.usd_per_gb;
    paid = std::max(paid, up_to);
  }
  return usd;
}

double usd_of_requests(double samples, double samples_a_request, double usd_per_million_requests) {
  return samples / samples_a_request / 1e6 * usd_per_million_requests;
}

}  // namespace gradway
