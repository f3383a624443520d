// SPDX-License-Identifier: Apache-2.0
// How long a whole training takes, what it costs, and whether that keeps its limits.
#include <catch2/catch.hpp>

#include "sim/study/compare/training.hpp"

using namespace gradway;

namespace {

/// 256 samples of 1024 tokens in steps of 0.5 s, for 36 USD an hour: a cent a second.
Metrics half_a_second() {
  Metrics metrics;
  metrics.step_time = Seconds{0.5};
  metrics.samples = 256;
  metrics.samples_per_s = 512;
  metrics.tokens_per_sample = 1024;
  metrics.cost_per_hour = UsdPerHour{36};
  return metrics;
}

const TimeRange from_minus_10_to_plus_20_percent{Seconds{0.45}, Seconds{0.6}};

Training of(const TrainingGoal& goal, const Metrics& metrics = half_a_second()) {
  return training_of(goal, metrics, from_minus_10_to_plus_20_percent);
}

}  // namespace

TEST_CASE("time and cost of a training are those of its whole steps", "[study][training]") {
  // 2^30 tokens are 2^20 samples of 1024, which are 4096 steps of 256: 2048 s, 20.48 USD
  const auto training = of({.tokens = 1073741824.0, .samples = {}});
  CHECK(*training.tokens == 1073741824.0);
  CHECK(training.samples == 1048576);
  CHECK(training.steps == 4096);
  CHECK(training.seconds.value == Approx(2048));
  CHECK(training.seconds.low == Approx(2048 * 0.9));
  CHECK(training.seconds.high == Approx(2048 * 1.2));
  CHECK(training.usd->value == Approx(20.48));
  CHECK(training.usd->high == Approx(20.48 * 1.2));

  const auto one_more = of({.tokens = {}, .samples = 1048577});
  CHECK(one_more.steps == 4097);
  CHECK(one_more.seconds.value == Approx(2048.5));
  CHECK(*one_more.tokens == Approx(1048577.0 * 1024));
}

TEST_CASE("a model without text has no tokens, and a training without a price has no cost",
          "[study][training]") {
  auto metrics = half_a_second();
  metrics.tokens_per_sample.reset();
  metrics.cost_per_hour.reset();
  const auto training = of({.tokens = {}, .samples = 256}, metrics);
  CHECK_FALSE(training.tokens.has_value());
  CHECK_FALSE(training.usd.has_value());
  CHECK(training.seconds.value == Approx(0.5));
}

TEST_CASE("the status of a limit follows from the interval", "[study][training]") {
  // 2048 s (1843.2 to 2457.6), 20.48 USD (18.432 to 24.576)
  struct Row {
    double limit;
    LimitStatus met;
    bool ranked;
  };
  const auto [limit, met, ranked] = GENERATE(values<Row>({{2457.7, LimitStatus::met, true},
                                                          {2457.5, LimitStatus::may_be_met, true},
                                                          {2048.1, LimitStatus::may_be_met, true},
                                                          {2047.9, LimitStatus::may_be_met, false},
                                                          {1843.3, LimitStatus::may_be_met, false},
                                                          {1843.1, LimitStatus::missed, false}}));
  CAPTURE(limit);
  const auto in_time = of({.tokens = {}, .samples = 1048576, .deadline = Seconds{limit}});
  CHECK(in_time.in_time == met);
  CHECK_FALSE(in_time.in_budget.has_value());
  CHECK(meets(in_time) == ranked);

  const auto paid = of({.tokens = {}, .samples = 1048576, .deadline = {}, .budget_usd = limit / 100});
  CHECK(paid.in_budget == met);
  CHECK(meets(paid) == ranked);
}

TEST_CASE("the worse of two limits counts, and a budget without a price is not kept", "[study][training]") {
  TrainingGoal goal{.tokens = {}, .samples = 1048576, .deadline = Seconds{9999}, .budget_usd = 20.0};
  const auto both = of(goal);
  CHECK(both.in_time == LimitStatus::met);
  CHECK(worst_limit_status(both) == LimitStatus::may_be_met);
  CHECK_FALSE(meets(both));

  auto metrics = half_a_second();
  metrics.cost_per_hour.reset();
  const auto unpriced = of(goal, metrics);
  CHECK_FALSE(unpriced.in_budget.has_value());
  CHECK_FALSE(worst_limit_status(unpriced).has_value());
  CHECK_FALSE(meets(unpriced));
}
