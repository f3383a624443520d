// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/campaign/plan.hpp"

namespace gradway {

/// The time between two checkpoints, and the goodput that it gives.
struct IntervalChoice {
  struct Point {
    Seconds interval{};
    double goodput = 0;  ///< mean
  };
  Seconds used{};
  Seconds best{};
  std::optional<Seconds> young{}, daly{};  ///< none if nothing interrupts
  Seconds shortest{};                      ///< one step, or the time until a checkpoint is on storage
  double goodput_used = 0, goodput_best = 0;
  std::optional<double>
      goodput_daly{};          ///< Daly's equation 20 at the used interval: failures and pauses only
  std::vector<Point> curve{};  ///< in order of intervals
};

/// Simulates the campaign with intervals around Daly's, fits a/t + bt + c to the mean times, and takes the
/// minimum: the cost of saving falls with the interval t, and the lost work grows with it.
IntervalChoice choose_interval(const CampaignPlan& plan, int seeds, int threads);

/// Daly's interval, clamped to possible values. The whole training if nothing interrupts or pauses cost
/// nothing.
Seconds clamped_daly_interval(const CampaignPlan& plan);

}  // namespace gradway
