// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "sim/cost/cache.hpp"
#include "sim/cost/storage_cost.hpp"

using namespace gradway;

namespace {

BytesPerSecond megabytes(double rate) {
  return BytesPerSecond{rate * 1e6};
}

Codec codec(std::string_view name) {
  return *std::ranges::find(codecs(), name, &Codec::name);
}

}  // namespace

TEST_CASE("caches under shuffling hit as simulated caches do", "[cost][storage]") {
  struct Row {
    double cached;
    double lru;
    double random;
  };
  // Simulated with one random order an epoch.
  const auto row = GENERATE(Row{0.10, 0.005, 0.011}, Row{0.25, 0.034, 0.070}, Row{0.50, 0.154, 0.285},
                            Row{0.75, 0.404, 0.603}, Row{0.90, 0.672, 0.834});
  CHECK(hit_ratio(CachePolicy::keeps, row.cached) == row.cached);
  CHECK(hit_ratio(CachePolicy::lru, row.cached) == Approx(row.lru).margin(0.0025));
  CHECK(hit_ratio(CachePolicy::random, row.cached) == Approx(row.random).margin(0.0045));
}

TEST_CASE("a cache that holds everything hits always, an empty one never", "[cost][storage]") {
  const auto policy = GENERATE(CachePolicy::keeps, CachePolicy::lru, CachePolicy::random);
  CHECK(hit_ratio(policy, 0) == 0);
  CHECK(hit_ratio(policy, 1) == 1);
  double before = 0;
  for (double cached = 0.05; cached < 1; cached += 0.05) {
    const auto hits = hit_ratio(policy, cached);
    CHECK(hits > before);
    CHECK(hits <= cached);
    before = hits;
  }
}

TEST_CASE("a connection is slower the smaller its requests", "[cost][storage]") {
  const auto rate = megabytes(93);
  const auto large = connection_rate(8_MB, 20_ms, rate);
  CHECK(large.value() / 1e6 == Approx(75.4).epsilon(0.001));
  CHECK(connections_needed(10_GBps, large) == Approx(132.6).epsilon(0.001));
  // Half the rate where the bytes take as long as the first of them.
  CHECK(connection_rate(rate * 20_ms, 20_ms, rate).value() == Approx(rate.value() / 2));
  CHECK(connection_rate(1_MB, Seconds{}, rate).value() == Approx(rate.value()));
}

TEST_CASE("by Little's law, 192 readers of 9,950 files a second wait 19 ms for each", "[cost][storage]") {
  CHECK(in_flight(9950, Seconds{192 / 9950.0}) == Approx(192));
  CHECK(in_flight(9950, 19.3_ms) == Approx(192).epsilon(0.001));
}

TEST_CASE("requests are bounded by the least of their limits", "[cost][storage]") {
  RequestLimits limits{.per_second = 5500, .bandwidth = 1_GBps, .connections = 64};
  CHECK(request_rate(limits, 100_KiB, 10_ms) == 5500);
  CHECK(request_rate(limits, 1_MB, 10_ms) == Approx(1000));
  CHECK(request_rate(limits, 100_KiB, 20_ms) == Approx(3200));
  limits.connections.reset();
  CHECK(request_rate(limits, 100_KiB, 20_ms) == 5500);
}

TEST_CASE("a burst lasts until its credit is used up", "[cost][storage]") {
  const TokenBucket bucket{.burst = megabytes(500), .sustained = megabytes(100), .credit = 400_GB};
  const Seconds full{1000};
  CHECK(burst_time(bucket).value() == Approx(full.value()));
  CHECK(mean_rate(bucket, full / 2) == bucket.burst);
  CHECK(mean_rate(bucket, full * 1.0000001).value() == Approx(bucket.burst.value()));
  CHECK(mean_rate(bucket, full * 4).value() == Approx(200e6));
  // A quarter at the full rate, the rest at what is sustained.
  CHECK(mean_rate(bucket, full * 4).value() == Approx((500e6 + 3 * 100e6) / 4));
}

TEST_CASE("packing pays on slow links and costs on fast ones", "[cost][storage]") {
  using enum Unpacking;
  const auto lz4 = codec("lz4");
  CHECK(packed_rate(1_GBps, lz4, 8, beside_transfer) == 1_GBps * lz4.ratio);
  CHECK(packed_rate(10_GBps, lz4, 1, beside_transfer) == lz4.decompressed);
  CHECK(packed_rate(10_GBps, lz4, 1, beside_transfer) < 10_GBps);

  // In turns it pays up to L = C (1 - 1 / ratio).
  const auto even = lz4.decompressed * (1 - 1 / lz4.ratio);
  CHECK(packed_rate(even, lz4, 1, after_transfer).value() == Approx(even.value()));
  CHECK(packed_rate(even * 0.9, lz4, 1, after_transfer) > even * 0.9);
  CHECK(packed_rate(even * 1.1, lz4, 1, after_transfer) < even * 1.1);
  CHECK(packed_rate(even, lz4, 1, after_transfer) < packed_rate(even, lz4, 1, beside_transfer));
}

TEST_CASE("every epoch's bytes come from storage or from the cache", "[cost][storage]") {
  const auto data = 1000_GB;
  const double epochs = 10;
  const auto hits = hit_ratio(CachePolicy::lru, 0.5);
  const auto read = bytes_by_tier(data, epochs, hits);
  CHECK((read.storage + read.cache).value() == Approx(data.value() * epochs));
  CHECK(read.storage.value() == Approx(1e12 * (1 + 9 * (1 - hits))));
  CHECK(bytes_by_tier(data, 1, hits).storage == data);

  const auto time = reading_time(read, 2_GBps, 10_GBps).value();
  CHECK(time == Approx(500 + 9 * (1e12 * hits / 10e9 + 1e12 * (1 - hits) / 2e9)));
}

TEST_CASE("storage, requests and traffic cost what their prices say", "[cost][storage]") {
  CHECK(usd_to_keep(1000_GB, Seconds{730 * 3600.0}, 0.023) == Approx(23));
  CHECK(usd_to_keep(1000_GB, Seconds{73 * 3600.0}, 0.023) == Approx(2.3));
  CHECK(usd_of_requests(1281167, 1, 0.4) == Approx(0.5124668));
  CHECK(usd_of_requests(1281167, 73, 0.4) == Approx(0.5124668 / 73));

  const auto prices = aws_to_internet();
  CHECK(usd_of_traffic(100_GB, prices) == 0);
  CHECK(usd_of_traffic(10'000_GB, prices) == Approx(9900 * 0.09));
  CHECK(usd_of_traffic(50'000_GB, prices) == Approx(891 + 40'000 * 0.085));
  CHECK(usd_of_traffic(600'000_GB, prices) == Approx(891 + 3400 + 100'000 * 0.07 + 450'000 * 0.05));
}

TEST_CASE("codecs that unpack faster pack less", "[cost][storage]") {
  for (const auto& one : codecs()) {
    CAPTURE(one.name);
    CHECK(one.ratio > 1);
    CHECK(one.decompressed >= megabytes(300));
  }
  CHECK(codec("lz4").decompressed > codec("zstd").decompressed);
  CHECK(codec("lz4").ratio < codec("zstd").ratio);
}
