// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/cli/campaign/actions.hpp"
#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/status.hpp"
#include "sim/cli/shell/training_options.hpp"
#include "sim/study/search/search_space.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

struct OptimizeArguments {
  SearchRequest search;
  std::vector<std::string> set;
  TrainingOptions training;
  std::string engine = "fluid";  // runs in this process
  std::string out;
  int jobs = 0;
  bool json = false;
  bool layout = false;
  std::string global_batch;
  std::size_t top = 0;  ///< layouts to show; 0: as many as usual
  bool campaign = false;
  CampaignArguments campaign_choice{};
};

/// `optimize --layout`: searches how ranks share the model, not the settings of one strategy.
Status optimize_layout(const OptimizeArguments& arguments, const CLI::App& app,
                       const CommandContext& context);

/// `optimize --campaign`: searches the cluster, layout, terms and spares with which a campaign is cheapest or
/// fastest.
Status optimize_campaign(const OptimizeArguments& arguments, const CLI::App& app,
                         const CommandContext& context);

}  // namespace gradway::cli
