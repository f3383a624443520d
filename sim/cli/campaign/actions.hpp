// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/status.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/campaign/campaign.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

struct CampaignArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  ShortHands short_hands;
  std::string engine = "auto";
  std::string out;
  PriceChoice price{};
  std::string deadline;
  std::string budget;
  std::string sure;
  int seeds = 1000;
  int jobs = 0;
  bool json = false;
};

/// The step of which a campaign is made. @throws ConfigError if there is none, or it would last too long
Run step_of_campaign(const CampaignArguments& arguments, const std::vector<Override>& overrides,
                     const DataPath& data, const ProgressCallback& on_progress);

/// @throws ConfigError if the scenario does not say how much is trained on
void check_has_campaign(const Scenario& scenario);

/// @throws ConfigError if the steps alone of its campaign take longer than is played
void check_length(const Run& run);

/// What the options ask of a campaign that is played on so many threads.
CampaignQuestions questions_of(const CampaignArguments& arguments, int threads);

/// Campaigns with some keys changed, side by side.
Status vary_campaign(const CampaignArguments& arguments, const CLI::App& app, const CommandContext& context);

}  // namespace gradway::cli
