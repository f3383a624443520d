// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/statistics.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "calibration/harness/stopping.hpp"
#include "sim/base/quantiles.hpp"

namespace gradway::probe {
namespace {

std::vector<Seconds> seconds(std::initializer_list<double> values) {
  std::vector<Seconds> samples;
  for (const double value : values) samples.push_back(Seconds{value});
  return samples;
}

std::vector<Seconds> random_seconds(std::size_t count, double spread, unsigned seed) {
  std::mt19937 random{seed};
  std::lognormal_distribution<double> law{0, spread};
  std::vector<Seconds> samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back(Seconds{law(random)});
  return samples;
}

TEST_CASE("a quantile lies between the order statistics around it") {
  const auto samples = seconds({4, 1, 3, 2, 5});
  CHECK(quantile(samples, 0) == Seconds{1});
  CHECK(quantile(samples, 0.5) == Seconds{3});
  CHECK(quantile(samples, 1) == Seconds{5});
  CHECK(quantile(samples, 0.1) == Seconds{1.4});
  CHECK(quantile(seconds({1, 2}), 0.5) == Seconds{1.5});
}

TEST_CASE("the median of fewer than six samples is unknown") {
  CHECK(std::isinf(median_uncertainty(seconds({1, 1, 1, 1, 1}))));
  CHECK(median_uncertainty(seconds({1, 1, 1, 1, 1, 1})) == 0);
}

TEST_CASE("the interval of the median holds the true median in 95 of 100 cases") {
  const auto samples_of_a_case = GENERATE(std::size_t{8}, std::size_t{15}, std::size_t{40});
  constexpr int cases = 2000;
  int held = 0;
  for (unsigned i = 0; i < cases; ++i) {
    const auto samples = random_seconds(samples_of_a_case, 0.3, i);
    const auto median = quantile(samples, 0.5);
    // The interval of a skewed distribution is not symmetric; twice its half width contains both sides.
    const auto reach = 2 * median_uncertainty(samples) * median;
    if (std::abs((median - Seconds{1}).value()) <= reach.value()) ++held;
  }
  CHECK(held >= 0.95 * cases);
}

TEST_CASE("the interval of the median narrows with the square root of the samples") {
  const auto few = median_uncertainty(random_seconds(100, 0.1, 1));
  const auto many = median_uncertainty(random_seconds(10000, 0.1, 1));
  CHECK(many == Approx(few / 10).epsilon(0.3));
}

TEST_CASE("one outlier does not move the median, and the summary shows it in no quantile but the last") {
  const auto result = summary(seconds({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100}), false);
  CHECK(result.median == Seconds{1});
  CHECK(result.low == Seconds{1});
  CHECK(result.high == Seconds{1});
  CHECK(result.repeats == 12);
  CHECK_FALSE(result.noisy);
}

TEST_CASE("a measurement ends when its median is known, or at its limit of repetitions or time") {
  const StoppingRule rule{.least = 7, .most = 20, .uncertainty = 0.01, .noise = 0.05, .limit = Seconds{1}};
  const std::vector<Seconds> quiet(7, Seconds{1});
  const auto loud = random_seconds(7, 0.5, 3);

  CHECK(judge(rule, {}, Seconds{5}) == Verdict::go_on);
  CHECK(judge(rule, std::vector<Seconds>(6, Seconds{1}), Seconds{0.1}) == Verdict::go_on);
  CHECK(judge(rule, quiet, Seconds{0.1}) == Verdict::settled);
  CHECK(judge(rule, loud, Seconds{0.1}) == Verdict::go_on);
  CHECK(judge(rule, loud, Seconds{1}) == Verdict::gave_up);
  CHECK(judge(rule, random_seconds(20, 0.5, 3), Seconds{0.1}) == Verdict::gave_up);

  SECTION("calls that take long get twice the time for the least repetitions") {
    CHECK(judge(rule, seconds({1, 1}), Seconds{1.5}) == Verdict::go_on);
    CHECK(judge(rule, seconds({1, 1}), Seconds{2}) == Verdict::gave_up);
  }
}

TEST_CASE("a measurement is noisy if the interval of its median exceeds the limit of noise") {
  const StoppingRule rule{.noise = 0.05};
  CHECK_FALSE(concluded(rule, std::vector<Seconds>(7, Seconds{1})).noisy);
  CHECK(concluded(rule, random_seconds(12, 0.5, 3)).noisy);
  SECTION("of few samples the whole spread tells") {
    CHECK_FALSE(concluded(rule, seconds({1, 1.02})).noisy);
    CHECK(concluded(rule, seconds({1, 1.5})).noisy);
  }
}

TEST_CASE("a repetition holds as many calls as fill it") {
  CHECK(calls_per_repetition(Seconds{10e-6}, Seconds{1e-3}, 500) == 100);
  CHECK(calls_per_repetition(Seconds{1e-6}, Seconds{1e-3}, 500) == 500);
  CHECK(calls_per_repetition(Seconds{1}, Seconds{1e-3}, 500) == 1);
  CHECK(calls_per_repetition(Seconds{0}, Seconds{1e-3}, 500) == 500);
}

}  // namespace
}  // namespace gradway::probe
