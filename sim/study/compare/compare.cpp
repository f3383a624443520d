// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/compare.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace gradway {
namespace {

/// A value that is proportional to the step time, with the relative interval of the step time.
Expected scaled_by_step(double value, const Alternative& alternative) {
  const auto& step = alternative.metrics.step_time;
  if (step == Seconds{}) return {value, value, value};
  return {value, value * (alternative.range.low / step), value * (alternative.range.high / step)};
}

std::optional<double> usd_per_second(const Alternative& alternative) {
  if (!alternative.metrics.cost_per_hour) return std::nullopt;
  return alternative.metrics.cost_per_hour->value() / 3600;
}

}  // namespace

Alternative alternative_of(const Run& run) {
  return {.platform = run.scenario.platform.name,
          .gpus = run.scenario.job.gpus,
          .nodes = nodes_of(run.scenario.platform, run.scenario.job.gpus),
          .metrics = run.measured.metrics,
          .range = run.range,
          .bottleneck = run.measured.bottleneck,
          .provenance = provenance_class_of(run.step_basis),
          .errors = run.errors,
          .price = run.scenario.platform.price};
}

int nodes_of(const Platform& platform, int gpus) {
  std::set<int> nodes;
  for (std::size_t i = 0; i < platform.gpus.size() && i < static_cast<std::size_t>(gpus); ++i)
    nodes.insert(platform.device(platform.gpus[i]).node);
  return static_cast<int>(nodes.size());
}

std::optional<Expected> usd_per_step(const Alternative& alternative) {
  const auto rate = usd_per_second(alternative);
  if (!rate) return std::nullopt;
  return scaled_by_step(*rate * alternative.metrics.step_time.value(), alternative);
}

std::optional<Expected> usd_per_million_samples(const Alternative& alternative) {
  if (!alternative.metrics.cost_usd_per_million_samples) return std::nullopt;
  return scaled_by_step(*alternative.metrics.cost_usd_per_million_samples, alternative);
}

std::vector<std::size_t> by_cost(const std::vector<Alternative>& alternatives) {
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

Leaders fastest(const std::vector<Alternative>& alternatives) {
  std::vector<std::optional<Choice>> choices;
  for (const auto& alternative : alternatives)
    choices.push_back(
        Choice{1 / alternative.metrics.samples_per_s, alternative.metrics.step_time, alternative.errors});
  return leaders_of(choices);
}

Leaders shortest_step(const std::vector<Alternative>& alternatives) {
  std::vector<std::optional<Choice>> choices;
  for (const auto& alternative : alternatives)
    choices.push_back(
        Choice{alternative.metrics.step_time.value(), alternative.metrics.step_time, alternative.errors});
  return leaders_of(choices);
}

Leaders cheapest(const std::vector<Alternative>& alternatives) {
  std::vector<std::optional<Choice>> choices;
  for (const auto& alternative : alternatives) {
    auto& choice = choices.emplace_back();
    if (const auto cost = alternative.metrics.cost_usd_per_million_samples)
      choice = Choice{*cost, alternative.metrics.step_time, alternative.errors};
  }
  return leaders_of(choices);
}

std::vector<bool> pareto_front(const std::vector<Alternative>& alternatives) {
  const auto beats = [](const Metrics& challenger, const Metrics& rival) {
    const auto cost = challenger.cost_usd_per_million_samples;
    const auto rival_cost = rival.cost_usd_per_million_samples;
    return cost && *cost <= *rival_cost && challenger.samples_per_s >= rival.samples_per_s &&
           (*cost < *rival_cost || challenger.samples_per_s > rival.samples_per_s);
  };
  std::vector<bool> front;
  for (const auto& alternative : alternatives) {
    front.push_back(alternative.metrics.cost_usd_per_million_samples &&
                    std::ranges::none_of(alternatives, [&](const Alternative& rival) {
                      return beats(rival.metrics, alternative.metrics);
                    }));
  }
  return front;
}

}  // namespace gradway
