// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/fit/outliers.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

TEST_CASE("latency and rate have no outliers, whatever the size", "[fit]") {
  CHECK(sift(straight_line(11)).outliers.empty());
  CHECK(sift(straight_line(11)).kept.size() == 11);
}

TEST_CASE("one late sample is found wherever it is, and no other is taken for one", "[fit]") {
  const auto at = GENERATE(range(0, 11));
  const auto times = GENERATE(1.5, 5.0, 50.0);
  auto samples = straight_line(11);
  auto& late = samples[static_cast<std::size_t>(at)];
  late.time = late.time * times;
  CAPTURE(at, times);

  const auto sifted = sift(samples);

  // Where the curve bends from latency to rate, a point lies below the line between its neighbours.
  const bool is_hidden = times == 1.5 && at >= 4 && at <= 7;
  if (is_hidden) CHECK(sifted.outliers.empty());
  if (is_hidden) return;
  REQUIRE(sifted.outliers.size() == 1);
  CHECK(sifted.outliers[0].size == late.size);
  CHECK(sifted.outliers[0].time == late.time);
  CHECK(sifted.kept.size() == 10);
}

TEST_CASE("one early sample is found wherever it falls below the size before", "[fit]") {
  const auto at = GENERATE(range(1, 11));
  auto samples = straight_line(11);
  auto& early = samples[static_cast<std::size_t>(at)];
  early.time = early.time / 50;
  CAPTURE(at);

  const auto sifted = sift(samples);

  REQUIRE(sifted.outliers.size() == 1);
  CHECK(sifted.outliers[0].size == early.size);
}

TEST_CASE("two late samples side by side are both found", "[fit]") {
  // all-reduce on 4 H200 over NVLink
  const auto sifted = sift({{1_KiB, 19.06_us},
                            {4_KiB, 98.05_us},
                            {16_KiB, 102.04_us},
                            {64_KiB, 19.77_us},
                            {256_KiB, 19.79_us},
                            {1_MiB, 21.02_us}});
  REQUIRE(sifted.outliers.size() == 2);
  CHECK(sifted.outliers[0].time == 98.05_us);
  CHECK(sifted.outliers[1].time == 102.04_us);
}

TEST_CASE("a change of protocol that doubles the time is no outlier", "[fit]") {
  CHECK(sift({{16_KiB, 18_us}, {64_KiB, 17.3_us}, {256_KiB, 42.6_us}, {1_MiB, 55.5_us}, {4_MiB, 123_us}})
            .outliers.empty());
}

TEST_CASE("two samples have no outliers", "[fit]") {
  CHECK(sift({{1_KiB, 1_us}, {4_KiB, 1000_us}}).outliers.empty());
  CHECK(sift({}).kept.empty());
}

TEST_CASE("a step to another protocol is no outlier, wherever it is, and a late time near it is one",
          "[fit]") {
  const auto at = static_cast<std::size_t>(GENERATE(range(1, 18)));
  const auto step = GENERATE(1.5, 2.5, 4.0);
  std::vector<SizedTime> samples;  // every power of two from 1 KiB to 1 GiB
  for (auto size = 1_KiB; size <= 1_GiB; size = 2 * size) {
    const auto late = samples.size() >= at ? step : 1;
    samples.push_back({size, late * (20_us + size / 100_GBps)});
  }
  CAPTURE(at, step);
  CHECK(sift(samples).outliers.empty());

  auto& late = samples[at + 3];
  late.time = 5 * late.time;
  const auto sifted = sift(samples);
  REQUIRE(sifted.outliers.size() == 1);
  CHECK(sifted.outliers[0].size == late.size);
}
