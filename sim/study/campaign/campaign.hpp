// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/progress.hpp"
#include "sim/campaign/plan.hpp"
#include "sim/campaign/simulate_campaign.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/campaign/campaign_estimate.hpp"

namespace gradway {

/// The campaign with one change, simulated with the same seeds.
struct CampaignWhatIf {
  std::string change;
  CampaignEstimate estimate;
  double saves_s = 0;  ///< on average; negative if the change costs time
  std::optional<double> saves_usd;
};

/// The same campaign on nodes with other terms of payment.
struct CampaignTerms {
  Terms terms = Terms::on_demand;
  UsdPerHour per_node{};
  std::optional<Price> price{};  ///< the platform's; empty: the scenario has its own
  double share = 1;              ///< of the nodes with these terms; the others are on demand
  CampaignEstimate estimate;
};

/// Number of runs that end within a time span.
struct HistogramBar {
  double from_s = 0;
  double to_s = 0;
  int runs = 0;
};

/// The alternative to local SGD: all data is moved to one site, and training runs there.
struct CentralTraining {
  Bytes data{};             ///< to move
  Seconds transfer_time{};  ///< all links at the same time, into a site that is as fast as each of them
  double transfer_usd = 0;
  Seconds training{};  ///< all steps on the GPUs of one worker, without interruptions
  std::optional<double> training_usd{};
  Seconds best_training_time{};  ///< with the GPUs of all workers at that site, scaling linearly
  Bytes exchanged{};             ///< that the campaign sends instead, on average
};

/// The results of a campaign.
struct CampaignAnswers {
  CampaignPlan plan;
  std::optional<UsdPerHour> per_node;  ///< on the scenario's terms
  std::optional<Price> price{};        ///< the platform's, if it is the basis of the costs of nodes
  CampaignEstimate estimate{};
  IntervalChoice interval{};
  std::vector<CampaignWhatIf> what_ifs{};
  std::vector<CampaignTerms> terms{};
  std::optional<CentralTraining> moved{};
  CampaignRun typical{};               ///< the run of median length, with its stops
  std::vector<CampaignSpan> course{};  ///< of the typical run
  std::optional<TargetSteps> target_steps{};
  std::vector<HistogramBar> histogram{};
  std::optional<double> in_time{}, in_budget{};  ///< shares of the runs
  /// How far the quantile `sure` of the runs exceeds the limits. Negative if it keeps them.
  std::optional<double> late_s{}, over_usd{};
  std::vector<ProvenanceFact> basis{};
  std::vector<Warning> warnings{};
};

struct CampaignQuestions {
  int seeds = 1000;
  int threads = 1;
  std::optional<Seconds> deadline{};
  std::optional<double> budget_usd{};
  double sure = 0.5;          ///< share of the runs that must keep a limit
  bool only_figures = false;  ///< without what-ifs, terms, the typical run and the histogram
};

/// Price of a node on these terms: the scenario's, or the platform's.
std::optional<UsdPerHour> price_of_node(const Scenario& scenario, Terms terms);

/// Step time of each class of clients: the given time, the model's FLOPs divided by the given rate, or a
/// simulation on the platform of the class. Empty without clients.
/// @param run of the step on the scenario's own platform
/// @throws ConfigError if a class has a rate, but the model's FLOPs are unknown
std::vector<Seconds> client_steps(const Run& run, std::string_view engine = "auto");

/// @param node cost of a node-hour at the site of all data
/// @return none if the scenario does not say how much data each site has
std::optional<CentralTraining> central_training(const Run& run, const CampaignPlan& plan,
                                                const CampaignEstimate& estimate,
                                                const std::optional<UsdPerHour>& node);

/// @param run of a step of the campaign @throws ConfigError if its steps take more than 20 years
void check_length(const Run& run);

/// Simulates the campaign of a scenario with many seeds.
/// @param run of one step @pre its scenario has a campaign
/// @throws ConfigError if no run can finish, with the reason
CampaignAnswers answers_of(const Run& run, const CampaignQuestions& questions,
                           const ProgressCallback& on_progress = {});

}  // namespace gradway
