// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign_interval.hpp"

#include <algorithm>
#include <cmath>

#include "sim/study/campaign/campaign_estimate.hpp"

namespace gradway {
namespace {

/// Fits time = a/t + bt + c by least squares. @return its minimum sqrt(a/b), or an end of the range if it has
/// none
double fitted_minimum(const std::vector<double>& t, const std::vector<double>& time, double shortest,
                      double longest) {
  const auto count = static_cast<double>(t.size());
  double u = 0, v = 0, y = 0;
  for (std::size_t i = 0; i < t.size(); ++i) u += 1 / t[i], v += t[i], y += time[i];
  u /= count, v /= count, y /= count;
  double uu = 0, uv = 0, vv = 0, uy = 0, vy = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const auto du = 1 / t[i] - u, dv = t[i] - v, dy = time[i] - y;
    uu += du * du, uv += du * dv, vv += dv * dv, uy += du * dy, vy += dv * dy;
  }
  const auto determinant = uu * vv - uv * uv;
  if (!(determinant > 0)) return std::clamp(t.front(), shortest, longest);
  const auto a = (uy * vv - vy * uv) / determinant, b = (vy * uu - uy * uv) / determinant;
  if (a <= 0) return shortest;
  if (b <= 0) return longest;
  return std::clamp(std::sqrt(a / b), shortest, longest);
}

Seconds shortest_interval(const CampaignPlan& plan) {
  return std::max(plan.step, seconds_of(plan.checkpoint.write));
}

Seconds longest_interval(const CampaignPlan& plan) {
  return std::max(plan.step * plan.steps, shortest_interval(plan));
}

double mean_goodput(const CampaignEstimate& estimate) {
  return estimate.mean_s > 0
             ? estimate.bucket_s[static_cast<std::size_t>(Bucket::productive)] / estimate.mean_s
             : 1;
}

}  // namespace

Seconds clamped_daly_interval(const CampaignPlan& plan) {
  const auto interruptions = plan.interruptions();
  if (interruptions.mttf == Seconds::infinite() || !plan.saves) return longest_interval(plan);
  return std::clamp(daly_interval(interruptions), shortest_interval(plan), longest_interval(plan));
}

IntervalChoice choose_interval(const CampaignPlan& plan, int seeds, int threads) {
  const auto interruptions = plan.interruptions();
  IntervalChoice choice{.best = clamped_daly_interval(plan), .shortest = shortest_interval(plan)};
  const auto goodput = [&](Seconds interval) {
    return estimate_of(simulate_seeds(plan, interval, seeds, threads), plan, {});
  };
  if (interruptions.mttf < Seconds::infinite() && plan.saves) {
    choice.young = young_interval(interruptions);
    choice.daly = daly_interval(interruptions);
    std::vector<double> intervals, times;
    const auto longest = longest_interval(plan);
    for (int i = -6; i <= 6; ++i) {
      const auto interval = std::clamp(choice.best * std::exp2(i / 2.0), choice.shortest, longest);
      if (!choice.curve.empty() && !(interval > choice.curve.back().interval)) continue;
      const auto estimate = goodput(interval);
      choice.curve.push_back({interval, mean_goodput(estimate)});
      if (std::abs(i) > 3) continue;
      intervals.push_back(interval.value());
      times.push_back(estimate.mean_s);
    }
    if (intervals.size() > 2)
      choice.best = Seconds{fitted_minimum(intervals, times, choice.shortest.value(), longest.value())};
  }
  choice.used = plan.interval.value_or(choice.best);
  choice.goodput_best = mean_goodput(goodput(choice.best));
  choice.goodput_used = plan.interval ? mean_goodput(goodput(choice.used)) : choice.goodput_best;
  if (choice.daly) choice.goodput_daly = efficiency(interruptions, choice.used);
  return choice;
}

}  // namespace gradway
