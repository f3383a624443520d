// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/metrics/metrics.hpp"
#include "sim/trust/step_range.hpp"
#include "sim/trust/step_ratio.hpp"

namespace gradway {

/// The amount of training data, and limits of time and money. Either `tokens` or `samples` is given.
struct TrainingGoal {
  std::optional<double> tokens;  ///< for models of text
  std::optional<double> samples;
  std::optional<Seconds> deadline{};
  std::optional<double> budget_usd{};
};

/// Whether a limit is kept: by the whole prediction interval, by a part of it, or by none of it.
enum class LimitStatus { met, may_be_met, missed };

/// Time and cost of a training all of whose steps take as long as the predicted one.
struct Training {
  std::optional<double> tokens;  ///< for models of text
  double samples = 0;
  double steps = 0;  ///< a whole number
  Expected seconds;
  std::optional<Expected> usd;  ///< none without a price
  std::optional<Seconds> deadline;
  std::optional<double> budget_usd;
  std::optional<LimitStatus> in_time;    ///< none without a deadline
  std::optional<LimitStatus> in_budget;  ///< none without a budget or a price
};

/// @pre the goal is in samples, or the model has tokens
/// @param range of the step time. The error is the same in all steps.
Training training_of(const TrainingGoal& goal, const Metrics& metrics, const TimeRange& range);

/// Whether the expected values keep all limits. An unknown cost keeps no budget.
bool meets(const Training& training);
bool meets(const std::optional<TrainingGoal>& goal, const Metrics& metrics, const TimeRange& range);

/// The worse of the statuses of both limits. None without limits, or if the cost is unknown.
std::optional<LimitStatus> worst_limit_status(const Training& training);

}  // namespace gradway
