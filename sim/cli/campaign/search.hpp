// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/campaign/actions.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::cli {

/// Campaigns that are played side by side: the cross product of some keys.
struct CampaignSearch {
  CampaignArguments arguments;  ///< `vary` does not count
  std::vector<Override> fixed;
  std::vector<Axis> axes;
  bool is_ranked = false;     ///< the best first, figures alone; else in order, each with its whole document
  bool finds_layout = false;  ///< each step with its fastest layout
  std::optional<int> global_batch{};  ///< for that; empty: the scenario's
  std::string file;                   ///< of --out
};

/// Plays them, keys of `campaign` on one simulated step, prints and writes what came of it.
/// @throws ConfigError if all fail for what the user gave
Status play_campaigns(const CampaignSearch& search, const CLI::App& app, const CommandContext& context);

/// Adds `--seeds` and `--sure`.
void add_campaign_choice(CLI::App& app, CampaignArguments& arguments);

}  // namespace gradway::cli
