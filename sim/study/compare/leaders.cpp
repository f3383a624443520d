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
Expected seed_variation(const Choice& one, const Choice& other) {
  if (one.by_seed.empty() || one.by_seed.size() != other.by_seed.size()) return {1, 1, 1};
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one.by_seed.size(); ++i) ratios.push_back(one.by_seed[i] / other.by_seed[i]);
  const auto middle = quantile(ratios, 0.5);
  return {1, quantile(ratios, 0.05) / middle, quantile(ratios, 0.95) / middle};
}

}  // namespace

Expected figure_ratio(const Choice& one, const Choice& other) {
  const auto steps = step_ratio(one.step, one.errors, other.step, other.errors);
  const auto value = one.figure == other.figure ? 1 : one.figure / other.figure;
  const auto luck = seed_variation(one, other);
  const auto together = [](double a, double b) { return std::hypot(std::log(a), std::log(b)); };
  return {value, value * std::exp(-together(steps.low / steps.value, luck.low)),
          value * std::exp(together(steps.high / steps.value, luck.high))};
}

bool are_equal(const Choice& one, const Choice& other) {
  return one.figure == other.figure || std::abs(one.figure / other.figure - 1) < equal_within;
}

bool are_tied(const Choice& one, const Choice& other) {
  if (are_equal(one, other)) return true;
  const auto ratio = figure_ratio(one, other);
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
                       [&](std::size_t one) { return !are_tied(*choices[one], *choices[i]); });
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
