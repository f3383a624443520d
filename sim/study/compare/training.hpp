// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/metrics/metrics.hpp"
#include "sim/trust/step_range.hpp"
#include "sim/trust/step_ratio.hpp"

namespace gradway {

/// How much shall be trained on, by when and for how much.
struct TrainingGoal {
  std::optional<double> tokens;   ///< of a model of text
  std::optional<double> samples;  ///< if it is not told in tokens
  std::optional<Seconds> deadline{};
  std::optional<double> budget_usd{};
};

/// Is a limit kept? `may`: it lies within the interval.
enum class LimitStatus { met, may_be_met, missed };

/// A training of many steps, all as the predicted one.
struct Training {
  std::optional<double> tokens;  ///< of a model of text
  double samples = 0;
  double steps = 0;  ///< whole ones
  Expected seconds;
  std::optional<Expected> usd;  ///< none without a price
  std::optional<Seconds> deadline;
  std::optional<double> budget_usd;
  std::optional<LimitStatus> in_time;    ///< none without a deadline
  std::optional<LimitStatus> in_budget;  ///< none without a budget or a price
};

/// @pre the goal is in samples, or the model is one of text
/// @param range of the step's time: all steps are off by the same error
Training training_of(const TrainingGoal& goal, const Metrics& metrics, const TimeRange& range);

/// Are all limits kept, as predicted? A cost that is not known keeps no budget.
bool meets(const Training& training);
bool meets(const std::optional<TrainingGoal>& goal, const Metrics& metrics, const TimeRange& range);

/// Of both limits the one that is kept worse. None if there is none, or it is not known.
std::optional<LimitStatus> worst_limit_status(const Training& training);

}  // namespace gradway
