// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign_points.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway {
namespace {

/// The point with the smallest figure among those that `counts` accepts.
template <class Counts, class Figure>
std::optional<std::size_t> least(const std::vector<CampaignPoint>& points, const Counts& counts,
                                 const Figure& figure) {
  std::optional<std::size_t> smallest;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].estimate || !counts(points[i])) continue;
    const auto value = figure(*points[i].estimate);
    if (value && (!smallest || *value < *figure(*points[*smallest].estimate))) smallest = i;
  }
  return smallest;
}

std::optional<double> time_of(const CampaignEstimate& estimate) {
  return estimate.seconds.value;
}

std::optional<double> cost_of(const CampaignEstimate& estimate) {
  return estimate.usd ? std::optional{estimate.usd->value} : std::nullopt;
}

Leaders leaders_in(const CampaignPoints& points,
                   const std::function<std::optional<double>(const CampaignEstimate&)>& figure,
                   std::vector<double> CampaignEstimate::*by_seed) {
  std::vector<std::optional<Choice>> choices;
  for (const auto& point : points.points) {
    const auto value = point.estimate ? figure(*point.estimate) : std::nullopt;
    choices.emplace_back();
    if (value)
      choices.back() =
          Choice{*value, point.step.metrics.step_time, point.step.errors, *point.estimate.*by_seed};
  }
  return leaders_of(choices);
}

void add_once(std::vector<std::string>& values, const std::string& value) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

}  // namespace

double CampaignPoint::misses(const CampaignQuestions& questions) const {
  if (!estimate) return std::numeric_limits<double>::infinity();
  double worst = -1;
  if (questions.deadline) worst = std::max(worst, *late_s / questions.deadline->value());
  // An unknown cost does not meet a budget.
  if (questions.budget_usd) worst = std::max(worst, over_usd ? *over_usd / *questions.budget_usd : 1e9);
  return worst;
}

Leaders CampaignPoints::fastest() const {
  return leaders_in(*this, time_of, &CampaignEstimate::seconds_by_seed);
}

Leaders CampaignPoints::cheapest() const {
  return leaders_in(*this, cost_of, &CampaignEstimate::usd_by_seed);
}

std::optional<std::size_t> CampaignPoints::best() const {
  const auto keeps = [&](const CampaignPoint& point) { return point.misses(questions) <= 0; };
  const auto cheapest_one = least(points, keeps, cost_of);
  return cheapest_one ? cheapest_one : least(points, keeps, time_of);
}

CampaignPoints points_of(const TrainingPlan& plan, const std::vector<Cluster>& clusters,
                         const CampaignQuestions& questions) {
  CampaignPoints points{
      .scenario = plan.model, .axes = {{"platform", {}}, {"job.gpus", {}}}, .questions = questions};
  points.questions.only_figures = true;
  for (const auto& cluster : clusters) {
    const std::vector values{cluster.platform, fmt::to_string(cluster.gpus)};
    for (std::size_t i = 0; i < values.size(); ++i) add_once(points.axes[i].values, values[i]);
    points.points.push_back({values});
  }
  return points;
}

Run simulate_on(CampaignPoint& point, const TrainingPlan& plan, const Cluster& cluster,
                const CampaignQuestions& questions, const DataPath& data) {
  auto scenario = scenario_on(plan, cluster, data).load();
  if (!scenario.campaign)
    refuse("the amount of data to train on is not given", "give tokens, or samples, such as 300B");
  auto run = ask(std::move(scenario), {.engine = "fluid"});
  check_length(run);
  add_answers(point, run, answers_of(run, questions));
  return run;
}

void add_answers(CampaignPoint& point, const Run& run, const CampaignAnswers& answers) {
  point.estimate = answers.estimate;
  point.step = answer_of(run);
  point.in_time = answers.in_time;
  point.in_budget = answers.in_budget;
  point.late_s = answers.late_s;
  point.over_usd = answers.over_usd;
}

void rank(CampaignPoints& points) {
  const auto& questions = points.questions;
  std::ranges::stable_sort(points.points, [&](const CampaignPoint& a, const CampaignPoint& b) {
    const auto misses_a = std::max(0.0, a.misses(questions)), misses_b = std::max(0.0, b.misses(questions));
    if (misses_a != misses_b) return misses_a < misses_b;
    if (!a.estimate || !b.estimate) return false;
    const auto usd_a = cost_of(*a.estimate), usd_b = cost_of(*b.estimate);
    if (usd_a.has_value() != usd_b.has_value()) return usd_a.has_value();
    if (usd_a && *usd_a != *usd_b) return *usd_a < *usd_b;
    return *time_of(*a.estimate) < *time_of(*b.estimate);
  });
  points.is_ranked = true;
}

}  // namespace gradway
