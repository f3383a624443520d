// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "readers/fit/monotone.hpp"

using namespace gradway;

namespace {

/// The cost that `monotone_fit` minimises.
double cost(const std::vector<double>& values, const std::vector<double>& fit, double share) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto off = values[i] - fit[i];
    sum += off > 0 ? share * off : (share - 1) * off;
  }
  return sum;
}

/// Minimum cost of all monotone sequences. Some optimal sequence has only values of the input.
double least_cost(const std::vector<double>& values, double share) {
  auto levels = values;
  std::ranges::sort(levels);
  std::vector<double> best(levels.size(), 0);  // by the highest level that may be used so far
  for (const auto value : values) {
    auto least = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const auto off = value - levels[l];
      least = std::min(least, best[l] + (off > 0 ? share * off : (share - 1) * off));
      best[l] = least;
    }
  }
  return best.back();
}

}  // namespace

TEST_CASE("the monotone fit never falls and has the minimum cost of a brute-force search", "[fit]") {
  const auto share = GENERATE(0.25, 0.5, 0.75);
  std::mt19937 random{7};
  for (int round = 0; round < 500; ++round) {
    std::vector<double> values(1 + random() % 12);
    for (auto& value : values) value = static_cast<double>(random() % 20);

    const auto fit = monotone_fit(values, share);

    CAPTURE(share, values, fit);
    REQUIRE(fit.size() == values.size());
    CHECK(std::ranges::is_sorted(fit));
    CHECK(cost(values, fit, share) == Approx(least_cost(values, share)).margin(1e-12));
  }
}

TEST_CASE("a monotone sequence is its own fit", "[fit]") {
  const std::vector<double> values{1, 1, 2, 5, 5, 9};
  CHECK(monotone_fit(values, 0.25) == values);
  CHECK(monotone_fit(values, 0.5) == values);
}

TEST_CASE("late times of three small sizes do not change two good ones", "[fit]") {
  // reduce-scatter on 2 H200: 26.64, 30.23, 29.05, 21.41, 23.21, 52.22 us. The median of the five is 26.64
  // us.
  const auto points = monotone({{16_KiB, 26.64_us},
                                {64_KiB, 30.23_us},
                                {256_KiB, 29.05_us},
                                {1_MiB, 21.41_us},
                                {4_MiB, 23.21_us},
                                {16_MiB, 52.22_us}});
  REQUIRE(points.size() == 6);
  for (std::size_t i = 0; i < 4; ++i) CHECK(points[i].time == 21.41_us);
  CHECK(points[4].time == 23.21_us);
  CHECK(points[5].time == 52.22_us);
}

TEST_CASE("samples of one size become one point, and the order of samples does not matter", "[fit]") {
  const std::vector<SizedTime> samples{{4_KiB, 5_us}, {1_KiB, 2_us}, {4_KiB, 4_us}, {1_KiB, 3_us}};
  const auto merged = merged_by_size(samples);
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].size == 1_KiB);
  CHECK(merged[0].time == 2_us);
  CHECK(merged[1].time == 4_us);
  auto other = samples;
  std::ranges::reverse(other);
  CHECK(merged_by_size(other)[1].time == 4_us);
}
