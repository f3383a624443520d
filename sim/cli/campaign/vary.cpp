// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/campaign/search.hpp"

namespace gradway::cli {

Status vary_campaign(const CampaignArguments& arguments, const CLI::App& app, const CommandContext& context) {
  return play_campaigns({.arguments = arguments,
                         .fixed = overrides_of(arguments.set, arguments.short_hands),
                         .axes = parse_axes(arguments.vary),
                         .file = "campaigns.json"},
                        app, context);
}

}  // namespace gradway::cli
