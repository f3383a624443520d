// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/training.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

LimitStatus limit_status(const Expected& expected, double limit) {
  if (expected.high <= limit) return LimitStatus::met;
  return expected.low > limit ? LimitStatus::missed : LimitStatus::may_be_met;
}

}  // namespace

Training training_of(const TrainingGoal& goal, const Metrics& metrics, const TimeRange& range) {
  expects(goal.samples || (goal.tokens && metrics.tokens_per_sample), "the number of samples is known");
  Training training;
  const double tokens_of_a_sample = metrics.tokens_per_sample.value_or(0);
  training.samples = goal.tokens ? *goal.tokens / tokens_of_a_sample : *goal.samples;
  if (metrics.tokens_per_sample)
    training.tokens = goal.tokens ? *goal.tokens : training.samples * tokens_of_a_sample;
  training.steps = std::ceil(training.samples / metrics.samples);
  const auto in_all = [&](double of_a_second) {
    const auto times = training.steps * of_a_second;
    return Expected{times * metrics.step_time.value(), times * range.low.value(), times * range.high.value()};
  };
  training.seconds = in_all(1);
  if (metrics.cost_per_hour) training.usd = in_all(metrics.cost_per_hour->value() / 3600);
  training.deadline = goal.deadline;
  training.budget_usd = goal.budget_usd;
  if (goal.deadline) training.in_time = limit_status(training.seconds, goal.deadline->value());
  if (goal.budget_usd && training.usd) training.in_budget = limit_status(*training.usd, *goal.budget_usd);
  return training;
}

bool meets(const Training& training) {
  if (training.deadline && training.seconds.value > training.deadline->value()) return false;
  return !training.budget_usd || (training.usd && training.usd->value <= *training.budget_usd);
}

bool meets(const std::optional<TrainingGoal>& goal, const Metrics& metrics, const TimeRange& range) {
  return !goal || meets(training_of(*goal, metrics, range));
}

std::optional<LimitStatus> worst_limit_status(const Training& training) {
  if (training.budget_usd && !training.usd) return std::nullopt;
  return std::max(training.in_time, training.in_budget);  // an empty optional is less than all values
}

}  // namespace gradway
