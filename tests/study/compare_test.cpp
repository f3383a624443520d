// SPDX-License-Identifier: Apache-2.0
// What a step, a run and their uncertainty cost, and who comes first.
#include <cmath>

#include <catch2/catch.hpp>

#include "sim/study/compare/compare.hpp"

using namespace gradway;

namespace {

/// 100 samples a step; an interval of -10 % and +20 %.
Answer alternative(Seconds step, std::optional<double> usd_per_hour) {
  Answer one;
  one.metrics.step_time = step;
  one.metrics.samples_per_s = 100 / step.value();
  if (usd_per_hour) {
    one.metrics.cost_per_hour = UsdPerHour{*usd_per_hour};
    one.metrics.cost_usd_per_million_samples = *usd_per_hour / 3600 / one.metrics.samples_per_s * 1e6;
  }
  one.range = {0.9 * step, 1.2 * step};
  return one;
}

void check(const Expected& expected, double value) {
  CHECK(expected.value == Approx(value));
  CHECK(expected.low == Approx(0.9 * value));
  CHECK(expected.high == Approx(1.2 * value));
}

}  // namespace

TEST_CASE("costs follow from step time and price, with the relative interval of the step time", "[run]") {
  const auto one = alternative(100_ms, 36);  // 1000 samples a second, for a cent a second
  check(*usd_per_step(one), 0.001);
  check(*usd_per_million_samples(one), 10);
}

TEST_CASE("without a price there are no costs", "[run]") {
  const auto one = alternative(100_ms, std::nullopt);
  CHECK_FALSE(usd_per_step(one).has_value());
  CHECK_FALSE(usd_per_million_samples(one).has_value());
}

TEST_CASE("alternatives are ordered by cost, then throughput, and those without a price come last", "[run]") {
  const std::vector<Answer> all{alternative(50_ms, std::nullopt), alternative(100_ms, 72),
                                alternative(200_ms, 36), alternative(200_ms, 18),
                                alternative(10_ms, std::nullopt)};
  CHECK(by_cost(all) == std::vector<std::size_t>{3, 1, 2, 4, 0});
  CHECK(ranking_of(all).fastest.winner() == 4);
  CHECK(ranking_of(all).cheapest.winner() == 3);
  CHECK(ranking_of(all).shortest_step.winner() == 4);
}

TEST_CASE("the interval of a step follows from its parts and their provenance", "[run]") {
  Metrics metrics;
  metrics.step_time = 100_ms;
  metrics.compute = 100_ms;
  const auto range = step_range(metrics, {.compute = Basis::elsewhere});
  CHECK(range.high.value() == Approx(0.145));
  CHECK(range.low.value() == Approx(0.1 / 1.45));

  // Two equal and independent parts: the root of two times one of them.
  metrics.compute = 50_ms;
  metrics.exposed_communication = metrics.communication = 50_ms;
  const StepBasis both{
      .compute = Basis::elsewhere, .communication = Basis::nominal, .transport = Transport::p2p};
  const auto wide = step_range(metrics, both);
  CHECK(wide.high.value() == Approx(0.1 + 0.05 * std::hypot(0.45, 0.3)));

  // Hidden communication lengthens a step, but does not shorten it.
  metrics.compute = 100_ms;
  metrics.exposed_communication = {};
  const auto hidden = step_range(metrics, {.communication = Basis::nominal, .transport = Transport::shm});
  CHECK(hidden.high.value() == Approx(0.1 + 0.05 * 1.3));
  CHECK(hidden.low.value() == Approx(0.1));

  const auto exact = step_range(metrics, {});
  CHECK(exact.low == metrics.step_time);
  CHECK(exact.high == metrics.step_time);
}

TEST_CASE("the Pareto front has the alternatives that none beats in speed and cost", "[run][compare]") {
  const auto one = [](double samples_per_s, std::optional<double> cost) {
    Answer alternative;
    alternative.metrics.samples_per_s = samples_per_s;
    alternative.metrics.cost_usd_per_million_samples = cost;
    return alternative;
  };
  // The cheapest, one between, the fastest, beaten in both, as fast as one between but dearer, without a
  // price.
  const std::vector<Answer> all{one(10, 1), one(20, 2), one(30, 4), one(15, 3), one(20, 2.5), one(99, {})};
  CHECK(pareto_front(all) == std::vector<bool>{true, true, true, false, false, false});
  // Equals do not beat each other.
  CHECK(pareto_front({one(10, 1), one(10, 1)}) == std::vector<bool>{true, true});
  CHECK(pareto_front({}).empty());
}
