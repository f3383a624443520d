// SPDX-License-Identifier: Apache-2.0

// `optimize --campaign`
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/cli/campaign/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/optimize.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/study/campaign/campaign.hpp"

namespace gradway::cli {
namespace {

constexpr int most_samples_of_a_step = 1'000'000'000;

/// The keys of a campaign to search on the same hardware, as far as the scenario has their data.
std::vector<Axis> axes_of(const Scenario& written, const std::vector<Override>& set) {
  const auto& campaign = *written.campaign;
  const auto is_set = [&](const char* key) {
    return std::ranges::find(set, key, &Override::key) != set.end();
  };
  std::vector<Axis> axes;
  const bool has_prices = price_of_node(written, Terms::on_demand) && price_of_node(written, Terms::spot);
  if (campaign.spot && has_prices && !is_set("campaign.spot.share") && !is_set("campaign.terms"))
    axes.push_back({"campaign.spot.share", {"0 %", "25 %", "50 %", "75 %", "100 %"}});
  if (campaign.spares && !is_set("campaign.spares"))
    axes.push_back({"campaign.spares", {"0", "1", "2", "4", "8"}});
  if (campaign.checkpoint && campaign.checkpoint->interval && !is_set("campaign.checkpoint.interval"))
    axes.push_back({"campaign.checkpoint.interval",
                    {fmt::format("{} s", campaign.checkpoint->interval->value()), "best"}});
  return axes;
}

void check_options(const OptimizeArguments& arguments) {
  if (!arguments.search.price.terms.empty())
    refuse("a campaign has its own payment terms, so '--terms' cannot be given",
           fmt::format("write '--set campaign.terms={}'", arguments.search.price.terms));
  if (arguments.search.lossy)
    refuse("'--campaign' does not search communication hooks, so '--lossy' cannot be given",
           "name the hooks: '--over strategy.comm_hook=none,fp16'");
  if (!arguments.layout && !arguments.global_batch.empty())
    refuse("'--global-batch' needs '--layout'", "give '--layout' too, or leave it out");
}

}  // namespace

Status optimize_campaign(const OptimizeArguments& arguments, const CLI::App& app,
                         const CommandContext& context) {
  check_options(arguments);
  CampaignSearch search{.arguments = arguments.campaign_choice,
                        .fixed = parse_overrides(arguments.set),
                        .axes = parse_axes(arguments.search.over, "--over"),
                        .is_ranked = true,
                        .finds_layout = arguments.layout,
                        .global_batch = value_of("--global-batch", arguments.global_batch,
                                                 config::integer(1, most_samples_of_a_step)),
                        .file = "optimize.json"};
  add_campaign_keys(search.fixed, arguments.training);
  search.arguments.scenario = arguments.search.scenario;
  search.arguments.engine = arguments.engine;
  search.arguments.price = arguments.search.price;
  search.arguments.deadline = arguments.training.deadline;
  search.arguments.budget = arguments.training.budget;
  search.arguments.jobs = arguments.jobs;
  search.arguments.out = arguments.out;
  search.arguments.json = arguments.json;
  const auto written = load_campaign(search.arguments, search.fixed, context.data);
  if (search.axes.empty()) search.axes = axes_of(written, search.fixed);
  if (search.axes.empty() && !arguments.layout)
    refuse("there is nothing to search: the campaign has no spot nodes, spares or checkpoint interval",
           "give keys and values, such as '--over platform=aws-p5.48xlarge,aws-p4d.24xlarge', or '--layout'");
  const bool asks_of_spot = std::ranges::any_of(
      search.axes, [](const Axis& axis) { return axis.key.starts_with("campaign.spot."); });
  const bool says_terms =
      std::ranges::any_of(search.fixed, [](const auto& change) { return change.key == "campaign.terms"; }) ||
      std::ranges::find(search.axes, "campaign.terms", &Axis::key) != search.axes.end();
  if (asks_of_spot && !says_terms) search.fixed.push_back(given_by("--over", "campaign.terms", "spot"));
  return simulate_campaign_points(search, app, context);
}

}  // namespace gradway::cli
