// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign_search.hpp"

#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/search/layouts.hpp"
#include "sim/study/search/training_plan.hpp"

namespace gradway {

Scenario load_campaign(const CampaignRequest& request, std::vector<Override> overrides,
                       const DataPath& data) {
  auto scenario = load_scenario(request.scenario, overrides, data, request.price);
  if (!scenario.campaign)
    refuse(fmt::format("the scenario '{}' has no campaign", scenario.name),
           "add the group 'campaign', or give the amount of data: '--tokens 300B'");
  if (request.failures.empty()) return scenario;
  if (scenario.campaign->failures)
    refuse(fmt::format("'--failures {}': the campaign has failures already", request.failures),
           "change them: '--set campaign.failures.model=...'");
  Where option;
  option.file = fmt::format("--failures {}", request.failures);
  overrides.push_back({"campaign.failures.model", request.failures, std::move(option)});
  if (!scenario.campaign->checkpoint) overrides.push_back(assumed_checkpoints(scenario.job.gpus));
  return load_scenario(request.scenario, overrides, data, request.price);
}

Run step_of_campaign(const CampaignRequest& request, const std::vector<Override>& overrides,
                     const DataPath& data, const ProgressCallback& on_progress) {
  report_progress(on_progress, "reading the scenario and building its platform");
  auto run =
      ask(load_campaign(request, overrides, data), {.engine = request.engine, .on_progress = on_progress});
  check_length(run);
  return run;
}

std::vector<std::vector<std::size_t>> by_step(const CampaignPoints& campaigns) {
  std::map<std::vector<std::string>, std::size_t> places;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < campaigns.points.size(); ++i) {
    std::vector<std::string> key;
    for (std::size_t axis = 0; axis < campaigns.axes.size(); ++axis)
      if (!campaigns.axes[axis].key.starts_with("campaign.")) key.push_back(campaigns.points[i].values[axis]);
    const auto [place, is_new] = places.emplace(std::move(key), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(i);
  }
  return groups;
}

CampaignAnswers CampaignsOfStep::simulate_point(CampaignPoint& point) {
  const auto overrides = varied_.overrides_of(point.values);
  if (!run_) {
    run_ = finds_layout_ ? step_in_fastest_layout(overrides)
                         : step_of_campaign(request_, overrides, varied_.data, {});
  } else {
    auto scenario = load_campaign(request_, overrides, varied_.data);
    run_->scenario.campaign = std::move(scenario.campaign);
    run_->scenario.phases = std::move(scenario.phases);
    check_length(*run_);
  }
  auto answers = answers_of(*run_, questions_);
  add_answers(point, *run_, answers);
  return answers;
}

Run CampaignsOfStep::step_in_fastest_layout(const std::vector<Override>& overrides) const {
  auto scenario = load_campaign(request_, overrides, varied_.data);
  if (!scenario.phases.empty())
    refuse("'--layout' needs a campaign with the same settings from start to end, but this one has phases",
           "search the layout without them, then set it in the scenario");
  const auto samples = global_batch_.value_or(static_cast<int>(std::lround(scenario.job.samples())));
  const auto layouts = search_layouts(scenario, samples, quick_search(), {.engine = request_.engine});
  if (layouts.ranked.empty())
    refuse("no layout of this job can run", "use more GPUs, or GPUs with more memory");
  scenario.job = layouts.recommended().job;
  auto run = ask(std::move(scenario), {.engine = request_.engine});
  check_length(run);
  return run;
}

}  // namespace gradway
