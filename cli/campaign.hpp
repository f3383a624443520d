// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/failure.hpp"
#include "sim/study/campaign/campaign_search.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

struct CampaignArguments : CampaignRequest {
  std::vector<std::string> set;
  std::vector<std::string> vary;
  Shorthands shorthands;
  std::string out;
  std::string deadline;
  std::string budget;
  std::string sure;
  int seeds = 1000;
  int jobs = 0;
  bool json = false;
};

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

/// The arguments of a campaign search by a command with other options, too.
/// @param arguments of the command @pre it has the options that are copied here
template <class Arguments>
CampaignArguments campaign_arguments(const Arguments& arguments, CampaignRequest request) {
  auto choice = arguments.campaign_choice;
  static_cast<CampaignRequest&>(choice) = std::move(request);
  choice.deadline = arguments.training.deadline;
  choice.budget = arguments.training.budget;
  choice.jobs = arguments.jobs;
  choice.out = arguments.out;
  choice.json = arguments.json;
  return choice;
}

/// Adds `--seeds` and `--sure`.
void add_campaign_options(CLI::App& app, CampaignArguments& arguments);

}  // namespace gradway::cli
