// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/progress.hpp"
#include "sim/campaign/plan.hpp"
#include "sim/campaign/simulate_campaign.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/campaign/campaign_estimate.hpp"
#include "sim/study/campaign/campaign_interval.hpp"
#include "sim/study/campaign/central_training.hpp"

namespace gradway {

/// The campaign with one thing changed, played with the same seeds.
struct CampaignWhatIf {
  std::string change;
  CampaignEstimate estimate;
  double saves_s = 0;  ///< on average; below zero: it costs
  std::optional<double> saves_usd;
};

/// The same campaign on nodes that are paid for otherwise.
struct CampaignTerms {
  Terms terms = Terms::on_demand;
  UsdPerHour per_node{};
  double share = 1;  ///< of the nodes that are paid for so; the others are on demand
  CampaignEstimate estimate;
};

/// Of runs, how many end in a span.
struct HistogramBar {
  double from_s = 0;
  double to_s = 0;
  int runs = 0;
};

/// All that is found out about a campaign.
struct CampaignAnswers {
  CampaignPlan plan;
  std::optional<UsdPerHour> per_node;  ///< on the terms of the scenario
  CampaignEstimate estimate{};
  IntervalChoice interval{};
  std::vector<CampaignWhatIf> what_ifs{};
  std::vector<CampaignTerms> terms{};
  std::optional<CentralTraining> moved{};
  CampaignRun typical{};  ///< of median length, with its stops
  std::vector<HistogramBar> histogram{};
  std::optional<double> in_time{}, in_budget{};  ///< shares of the runs
  /// By how much what the runs need, so sure as was asked, is above the limits; below zero: there is room.
  std::optional<double> late_s{}, over_usd{};
  std::vector<std::string> basis{};
  std::vector<std::string> warnings{};
};

/// What is asked of a campaign.
struct CampaignQuestions {
  int seeds = 1000;
  int threads = 1;
  std::optional<Seconds> deadline{};
  std::optional<double> budget_usd{};
  double sure = 0.5;          ///< share of the runs that must keep a limit
  bool only_figures = false;  ///< nothing of what would help, and no single run
};

/// What a node costs on these terms: as the scenario says, or the platform's price on demand.
std::optional<UsdPerHour> price_of_node(const Scenario& scenario, Terms terms);

/// Plays the campaign of a scenario with many seeds.
/// @param run of one step @pre its scenario has a campaign
/// @throws ConfigError if no run gets to its end, with what stands in its way
CampaignAnswers answers_of(const Run& run, const CampaignQuestions& questions,
                           const ProgressCallback& on_progress = {});

}  // namespace gradway
