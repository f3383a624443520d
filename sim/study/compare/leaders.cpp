// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/leaders.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/quantiles.hpp"

namespace gradway {
namespace {

/// Number of leaders that a choice is compared with. All pairs of thousands of tied points would take
/// minutes.
constexpr std::size_t most_compared = 32;

/// Relative difference below which figures are equal. Runs of one step differ by more (docs/ACCURACY.md).
constexpr double equal_within = 1e-3;

/// The 90 % interval of the ratio of two figures over the seeds, relative to its median. Runs with the same
/// seed have the same random events as far as their campaigns are the same.
Expected seed_variation(const Choice& first, const Choice& second) {
  if (first.by_seed.empty() || first.by_seed.size() != second.by_seed.size()) return {1, 1, 1};
  std::vector<double> ratios;
  for (std::size_t i = 0; i < first.by_seed.size(); ++i)
    ratios.push_back(first.by_seed[i] / second.by_seed[i]);
  const auto middle = quantile(ratios, 0.5);
  return {1, quantile(ratios, 0.05) / middle, quantile(ratios, 0.95) / middle};
}

}  // namespace

Expected figure_ratio(const Choice& first, const Choice& second) {
  const auto steps = step_ratio(first.step, first.errors, second.step, second.errors);
  const auto value = first.figure == second.figure ? 1 : first.figure / second.figure;
  const auto luck = seed_variation(first, second);
  const auto together = [](double a, double b) { return std::hypot(std::log(a), std::log(b)); };
  return {value, value * std::exp(-together(steps.low / steps.value, luck.low)),
          value * std::exp(together(steps.high / steps.value, luck.high))};
}

bool are_equal(const Choice& first, const Choice& second) {
  return first.figure == second.figure || std::abs(first.figure / second.figure - 1) < equal_within;
}

bool are_tied(const Choice& first, const Choice& second) {
  if (are_equal(first, second)) return true;
  const auto ratio = figure_ratio(first, second);
  return ratio.low <= 1 && 1 <= ratio.high;
}

std::optional<std::size_t> Leaders::winner() const {
  return which.size() == 1 ? std::optional{which.front()} : std::nullopt;
}

bool Leaders::has(std::size_t choice) const {
  return std::ranges::find(which, choice) != which.end();
}

double Leaders::confidence() const {
  double least = 1;
  for (std::size_t i = 0; i < probability_first_leads.size(); ++i)
    if (probability_first_leads[i] && !has(i)) least = std::min(least, *probability_first_leads[i]);
  return least;
}

Leaders leaders_of(const std::vector<std::optional<Choice>>& choices) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i]) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return choices[i]->figure; });
  Leaders leaders;
  leaders.probability_first_leads.resize(choices.size());
  if (order.empty()) return leaders;
  // Choices are visited in the order of their figures, so that only earlier ones can certainly beat a choice.
  const auto is_beaten = [&](std::size_t i) {
    const auto end =
        leaders.which.begin() + static_cast<std::ptrdiff_t>(std::min(leaders.which.size(), most_compared));
    return std::any_of(leaders.which.begin(), end,
                       [&](std::size_t leader) { return !are_tied(*choices[leader], *choices[i]); });
  };
  for (const auto i : order) {
    const bool is_like_the_last =
        !leaders.which.empty() && choices[leaders.which.back()]->figure == choices[i]->figure;
    if (!is_like_the_last && is_beaten(i)) break;
    leaders.which.push_back(i);
  }
  const auto& first = *choices[order.front()];
  for (const auto i : order) {
    leaders.probability_first_leads[i] =
        are_equal(first, *choices[i]) ? 0.5 : probability_of_less(figure_ratio(first, *choices[i]));
  }
  if (leaders.tied()) leaders.difference = choices[leaders.which.back()]->figure / first.figure - 1;
  return leaders;
}

}  // namespace gradway
