// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/compare.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace gradway {
namespace {

/// A value that is proportional to the step time, with the relative interval of the step time.
Expected scaled_by_step(double value, const Answer& alternative) {
  const auto& step = alternative.metrics.step_time;
  if (step == Seconds{}) return {value, value, value};
  return {value, value * (alternative.range.low / step), value * (alternative.range.high / step)};
}

std::optional<double> usd_per_second(const Answer& alternative) {
  if (!alternative.metrics.cost_per_hour) return std::nullopt;
  return alternative.metrics.cost_per_hour->value() / 3600;
}

}  // namespace

std::optional<Expected> usd_per_step(const Answer& alternative) {
  const auto rate = usd_per_second(alternative);
  if (!rate) return std::nullopt;
  return scaled_by_step(*rate * alternative.metrics.step_time.value(), alternative);
}

std::optional<Expected> usd_per_million_samples(const Answer& alternative) {
  if (!alternative.metrics.cost_usd_per_million_samples) return std::nullopt;
  return scaled_by_step(*alternative.metrics.cost_usd_per_million_samples, alternative);
}

std::vector<std::size_t> by_cost(const std::vector<Answer>& alternatives) {
  std::vector<std::size_t> order(alternatives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t i) {
    const auto& metrics = alternatives[i].metrics;
    return std::tuple{metrics.cost_usd_per_million_samples.value_or(std::numeric_limits<double>::infinity()),
                      -metrics.samples_per_s};
  };
  std::ranges::stable_sort(order, {}, rank);
  return order;
}

namespace {

/// @param figure of an answer, which has none without a price
template <class Figure>
Leaders leaders_by(const std::vector<const Answer*>& answers, const Figure& figure) {
  std::vector<std::optional<Choice>> choices;
  for (const auto* answer : answers) {
    const std::optional<double> value = answer != nullptr ? figure(answer->metrics) : std::nullopt;
    choices.push_back(value ? std::optional{answer->choice(*value)} : std::nullopt);
  }
  return leaders_of(choices);
}

}  // namespace

Ranking ranking_of(const std::vector<const Answer*>& answers) {
  using Figure = std::optional<double>;
  return {leaders_by(answers, [](const Metrics& metrics) { return Figure{1 / metrics.samples_per_s}; }),
          leaders_by(answers, [](const Metrics& metrics) { return metrics.cost_usd_per_million_samples; }),
          leaders_by(answers, [](const Metrics& metrics) { return Figure{metrics.step_time.value()}; })};
}

Ranking ranking_of(const std::vector<Answer>& answers) {
  std::vector<const Answer*> all;
  for (const auto& answer : answers) all.push_back(&answer);
  return ranking_of(all);
}

std::vector<bool> pareto_front(const std::vector<Answer>& alternatives) {
  const auto beats = [](const Metrics& challenger, const Metrics& rival) {
    const auto cost = challenger.cost_usd_per_million_samples;
    const auto rival_cost = rival.cost_usd_per_million_samples;
    return cost && *cost <= *rival_cost && challenger.samples_per_s >= rival.samples_per_s &&
           (*cost < *rival_cost || challenger.samples_per_s > rival.samples_per_s);
  };
  std::vector<bool> front;
  for (const auto& alternative : alternatives) {
    front.push_back(alternative.metrics.cost_usd_per_million_samples &&
                    std::ranges::none_of(alternatives, [&](const Answer& rival) {
                      return beats(rival.metrics, alternative.metrics);
                    }));
  }
  return front;
}

}  // namespace gradway
