// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/campaign/plan.hpp"

namespace gradway {

/// How long training should go on between two checkpoints.
struct IntervalChoice {
  struct Point {
    Seconds interval{};
    double goodput = 0;  ///< mean
  };
  Seconds used{};
  Seconds best{};
  std::optional<Seconds> young{}, daly{};  ///< none if nothing interrupts
  Seconds shortest{};                      ///< a step, or what the checkpoint before takes to be on storage
  double goodput_used = 0, goodput_best = 0;
  std::optional<double> goodput_daly{};  ///< by Daly's equation 20, of failures and pauses alone
  std::vector<Point> curve{};            ///< in order of intervals
};

/// Plays the campaign with intervals about Daly's, and takes the least of a/t + bt + c through their mean
/// times: what saving costs falls with the interval t, what is lost grows with it.
IntervalChoice choose_interval(const CampaignPlan& plan, int seeds, int threads);

/// Daly's interval where something interrupts and a pause costs anything, within what is possible; else all
/// of the training.
Seconds clamped_daly_interval(const CampaignPlan& plan);

}  // namespace gradway
