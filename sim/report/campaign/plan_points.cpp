// SPDX-License-Identifier: Apache-2.0
#include "sim/report/campaign/plan_points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/refuse.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {
namespace {

void add_once(std::vector<std::string>& values, const std::string& value) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

}  // namespace

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

std::vector<Override> layout_keys(const Scenario& chosen) {
  CampaignPoint point;
  add_layout(point, chosen);
  std::vector<Override> keys;
  for (const auto& [key, value] : point.set) keys.push_back({key, value});
  return keys;
}

void simulate_on(CampaignPoint& point, const TrainingPlan& plan, const Cluster& cluster,
                 const CampaignQuestions& questions, const DataPath& data) {
  auto scenario = scenario_on(plan, cluster, data).load();
  if (!scenario.campaign)
    refuse("the amount of data to train on is not given", "give tokens, or samples, such as 300B");
  const auto run = simulate(std::move(scenario), "fluid");
  check_length(run);
  add_layout(point, run.scenario);
  add_answers(point, run, answers_of(run, questions));
}

}  // namespace gradway::report
