// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/status.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/campaign/campaign.hpp"
#include "sim/study/compare/sweep.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

struct CampaignArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  Shorthands shorthands;
  std::string engine = "auto";
  std::string out;
  PriceChoice price{};
  std::string deadline;
  std::string budget;
  std::string sure;
  std::string failures;  ///< a model of failures; empty: those of the scenario
  int seeds = 1000;
  int jobs = 0;
  bool json = false;
};

/// Loads the scenario, with failures and checkpoints as a plan has them if the options ask for failures.
/// @throws ConfigError if there is no campaign, or if it already has failures
Scenario load_campaign(const CampaignArguments& arguments, std::vector<Override> overrides,
                       const DataPath& data);

/// Simulates the step of a campaign. @throws ConfigError if there is no campaign, or if it takes too long
Run step_of_campaign(const CampaignArguments& arguments, const std::vector<Override>& overrides,
                     const DataPath& data, const ProgressCallback& on_progress);

/// The questions of the options, to be answered by this number of threads.
CampaignQuestions questions_of(const CampaignArguments& arguments, int threads);

/// `campaign --vary`: compares campaigns with several values of keys.
Status vary_campaign(const CampaignArguments& arguments, const CLI::App& app, const CommandContext& context);

/// Campaigns to compare: the cross product of the values of some keys.
struct CampaignSearch {
  CampaignArguments arguments;  ///< without `vary`
  std::vector<Override> fixed;
  std::vector<Axis> axes;
  bool is_ranked = false;     ///< the best first, without documents; else in order, with a document each
  bool finds_layout = false;  ///< use the fastest layout of each step
  std::optional<int> global_batch{};  ///< for the layout search; none: the scenario's
  std::string file;                   ///< in the folder of --out
};

/// Simulates the campaigns, prints the results and writes their files. Points that differ in keys of
/// `campaign` only share the simulation of a step.
/// @throws ConfigError if all fail due to wrong input
Status simulate_campaign_points(const CampaignSearch& search, const CLI::App& app,
                                const CommandContext& context);

/// Adds `--seeds` and `--sure`.
void add_campaign_options(CLI::App& app, CampaignArguments& arguments);

}  // namespace gradway::cli
