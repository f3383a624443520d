// SPDX-License-Identifier: Apache-2.0
// WAN paths between sites, and local SGD over them.
#include "sim/campaign/local_sgd.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "sim/campaign/simulate_campaign.hpp"

using namespace gradway;

namespace {

BytesPerSecond bits(double per_second) {
  return BytesPerSecond{per_second / 8};
}

/// Inner phases of 38 min in 100 steps, as INTELLECT-1's.
CampaignPlan intellect(Seconds exchange) {
  CampaignPlan plan{.steps = 20000, .step = Seconds{22.8}, .workers = 14, .exchange_every = 100};
  plan.exchange = ticks_of(exchange);
  return plan;
}

double use_of(const CampaignPlan& plan) {
  const auto run = simulate_campaign(plan, {}, 0);
  return static_cast<double>(at(run.times, Bucket::productive)) / static_cast<double>(run.elapsed);
}

}  // namespace

TEST_CASE("the rate of a connection is limited by its window or its losses, and parallel connections add up",
          "[campaign][wan]") {
  const auto rate = bits(5e9);
  CHECK(tcp_rate({.rate = rate, .rtt = 70_ms}).value() == rate.value());
  CHECK(tcp_rate({.rate = rate, .rtt = 70_ms, .window = 16_MB}).value() ==
        Approx(16e6 / 0.07));  // 1.83 Gbit/s
  CHECK(tcp_rate({.rate = rate, .rtt = 70_ms, .loss = 1e-5}).value() * 8 == Approx(64e6).epsilon(0.01));
  CHECK(tcp_rate({.rate = rate, .rtt = 70_ms, .loss = 1e-5, .streams = 10}).value() * 8 ==
        Approx(640e6).epsilon(0.01));
  CHECK(tcp_rate({.rate = rate, .rtt = 70_ms, .window = 16_MB, .streams = 8}).value() == rate.value());
}

TEST_CASE("BBR fills a path whose losses slow Reno and CUBIC down", "[campaign][wan]") {
  const WanPath path{.rate = bits(5e9), .rtt = 70_ms, .loss = 1e-4};
  const auto of = [&](Congestion congestion, int streams = 1) {
    auto one = path;
    one.congestion = congestion;
    one.streams = streams;
    return tcp_rate(one).value();
  };
  CHECK(of(Congestion::reno) == Approx(1460 / 0.07 * std::sqrt(1.5 / 1e-4)));
  // 1.054 segments at a round trip of a second and a loss of all packets
  CHECK(of(Congestion::cubic) == Approx(1460 / 0.07 * 1.054 * std::pow(0.07 / 1e-4, 0.75)).epsilon(0.001));
  CHECK(of(Congestion::bbr) == Approx(0.98 * path.rate.value()).epsilon(0.001));
  CHECK(of(Congestion::bbr, 8) == of(Congestion::bbr));  // one is enough
  CHECK(of(Congestion::cubic, 8) == 8 * of(Congestion::cubic));
}

TEST_CASE("an exchange between sites is a ring all-reduce", "[campaign][wan]") {
  // 14 sites, 10 GB: 26/14 of it at 1 GB/s, and 26 half round trips
  CHECK(exchange_time(14, 10_GB, {.rate = 1_GBps, .rtt = 100_ms}).value() == Approx(26.0 / 14 * 10 + 1.3));
  CHECK(exchange_time(1, 10_GB, {.rate = 1_GBps, .rtt = 100_ms}).value() == 0);
}

TEST_CASE("the use of GPUs in INTELLECT-1 follows from its inner phase and its exchanges",
          "[campaign][wan]") {
  // arXiv 2412.01152: 38 min of inner steps; median all-reduces of 103, 382 and 469 s; use 95.7, 85.6
  // and 83.0 %. 10 GB in int8 over 14 nodes: these times are those of 1.4, 0.39 and 0.32 Gbit/s, the slowest
  // link's.
  const auto [exchange, rate, use] = GENERATE(
      std::tuple{103.0, 1.4e9, 0.957}, std::tuple{382.0, 0.39e9, 0.856}, std::tuple{469.0, 0.32e9, 0.830});
  CAPTURE(exchange);
  CHECK(use_of(intellect(Seconds{exchange})) == Approx(use).margin(0.003));
  const auto from_link = exchange_time(14, 10_GB, {.rate = bits(rate), .rtt = 100_ms});
  CHECK(from_link.value() == Approx(exchange).epsilon(0.05));  // rates of two digits
}

TEST_CASE(
    "exchange time is proportional to the number of exchanges, and overlapped exchanges cost only their "
    "exposed part",
    "[campaign][wan]") {
  auto plan = intellect(Seconds{2280});
  CHECK(use_of(plan) == Approx(0.5).margin(0.001));
  plan.exchange_every = 1000;
  CHECK(use_of(plan) == Approx(10.0 / 11).margin(0.001));
  plan.exchange_every = 100;
  plan.exchange_overlap = 100;
  CHECK(use_of(plan) == Approx(1).margin(0.001));
  plan.exchange = ticks_of(Seconds{2 * 2280});
  CHECK(use_of(plan) == Approx(0.5).margin(0.001));
}

TEST_CASE("sparse updates are gathered whole, because they differ between workers", "[campaign][wan]") {
  // 14 workers, 1 GB each: 13 of it at 1 GB/s, and 13 half round trips
  CHECK(gather_time(14, 1_GB, {.rate = 1_GBps, .rtt = 100_ms}).value() == Approx(13 + 0.65));
}
