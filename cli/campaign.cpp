// SPDX-License-Identifier: Apache-2.0
#include "cli/campaign.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/points/points.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/progress.hpp"
#include "sim/base/text.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/report/campaign/campaign.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/report/page/page.hpp"
#include "sim/study/campaign/campaign_search.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

Status campaign(const CampaignArguments& arguments, const CLI::App& app, const CommandContext& context) {
  check_engine(arguments.engine);
  if (!arguments.vary.empty()) return vary_campaign(arguments, app, context);
  const bool writes_files = wants_files(app, arguments.out);
  const auto questions = questions_of(arguments, arguments.jobs);
  Progress progress{context};
  const auto on_progress = progress.callback();
  const auto run = step_of_campaign(arguments, overrides_of(arguments.set, arguments.shorthands),
                                    context.data, on_progress);
  const report::Campaign outcome{run, questions, answers_of(run, questions, on_progress)};
  const Results results{.text = [&](auto& out) { report::write_text(out, outcome, context.style); },
                        .page = [&](auto& out) { report::write_page(out, outcome, GRADWAY_VERSION); },
                        .files = {{"report.json", [&](auto& out) {
                                     report::write(out, report::json_document(outcome, GRADWAY_VERSION));
                                   }}}};
  show(results, arguments.json ? "report.json" : "", writes_files ? arguments.out : "", context);
  return Status::done;
}

}  // namespace

CampaignQuestions questions_of(const CampaignArguments& arguments, int threads) {
  const auto sure = value_of("--sure", arguments.sure, config::share);
  if (sure && (!(*sure > 0) || (arguments.deadline.empty() && arguments.budget.empty())))
    refuse(fmt::format("'--sure {}' is not possible", arguments.sure),
           "give a share above 0 %, and '--deadline' or '--budget'");
  return {.seeds = arguments.seeds,
          .threads = threads,
          .deadline = value_of("--deadline", arguments.deadline, config::time_span),
          .budget_usd = value_of("--budget", arguments.budget, config::dollars),
          .sure = sure.value_or(0.5)};
}

Action add_campaign(CLI::App& app) {
  const auto arguments = std::make_shared<CampaignArguments>();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  add_shorthands(app, arguments->shorthands, true);
  add_campaign_options(app, *arguments);
  app.add_option("--deadline", arguments->deadline,
                 "time limit, such as '14 days'; adds the share of runs that keep it")
      ->type_name("TIME");
  app.add_option("--budget", arguments->budget,
                 "cost limit, such as '100k USD'; adds the share of runs that keep it")
      ->type_name("USD");
  app.add_option("--failures", arguments->failures,
                 "published failure rates, such as llama3, for a campaign without failures; without "
                 "checkpoints also storage for these, as 'gradway plan' assumes it")
      ->type_name("NAME");
  app.add_option("--vary", arguments->vary,
                 "compare campaigns with these values of a key; several keys: all combinations")
      ->type_name("KEY=V1,V2,...")
      ->allow_extra_args(false);
  add_engine(app, arguments->engine);
  add_price_list_options(app, arguments->price);
  add_jobs(app, arguments->jobs);
  add_out(app, arguments->out, "report.html and report.json, or campaigns.json with --vary");
  add_flag(app, "--json", arguments->json, "print the report as JSON");
  return [arguments, &app](const CommandContext& context) { return campaign(*arguments, app, context); };
}

namespace {

/// The command of the search, quoted for a shell.
std::string command_of(const CampaignSearch& search) {
  auto command = "gradway campaign " + shell_word(search.arguments.scenario);
  for (const auto& change : search.fixed) command += " --set " + shell_word(change.key + "=" + change.value);
  return command;
}

/// @param reports of the points; empty if only figures are asked for
std::vector<Failure> simulate_all_points(CampaignPoints& campaigns,
                                         std::vector<report::JsonDocument>& reports,
                                         const CampaignSearch& search, const VariedScenario& varied,
                                         const CommandContext& context) {
  const auto groups = by_step(campaigns);
  const auto cores = search.arguments.jobs > 0 ? search.arguments.jobs : hardware_threads();
  auto questions = campaigns.questions;
  questions.threads = std::max(1, cores / static_cast<int>(groups.size()));  // groups run in parallel
  std::vector<Failure> failures(campaigns.points.size());
  run_points(context, "campaign", groups.size(), search.arguments.jobs, [&](std::size_t group) {
    CampaignsOfStep step{search.arguments, questions, varied, search.finds_layout, search.global_batch};
    for (const auto i : groups[group]) {
      failures[i] = failure_of([&] {
        auto answers = step.simulate_point(campaigns.points[i]);
        if (search.finds_layout) report::add_layout(campaigns.points[i], step.run().scenario);
        if (!reports.empty())
          reports[i] = report::json_document(report::Campaign{step.run(), questions, std::move(answers)},
                                             GRADWAY_VERSION);
        return Status::done;
      });
    }
  });
  return failures;
}

}  // namespace

Status simulate_campaign_points(const CampaignSearch& search, const CLI::App& app,
                                const CommandContext& context) {
  const auto& arguments = search.arguments;
  const bool writes_files = wants_files(app, arguments.out);
  const VariedScenario varied{arguments.scenario, search.fixed, search.axes, with_file_cache(context.data),
                              arguments.price};
  varied.check();
  CampaignPoints campaigns{.scenario = std::filesystem::path{arguments.scenario}.stem().string(),
                           .axes = search.axes,
                           .questions = questions_of(arguments, 1)};
  campaigns.questions.only_figures = search.is_ranked;
  for (std::size_t i = 0; i < point_count(campaigns.axes); ++i)
    campaigns.points.push_back({point_values(campaigns.axes, i)});
  std::vector<report::JsonDocument> reports(search.is_ranked ? 0 : campaigns.points.size());
  const auto failures = simulate_all_points(campaigns, reports, search, varied, context);
  if (!has_results(failures, context)) return status_of(failures);
  for (std::size_t i = 0; i < failures.size(); ++i) campaigns.points[i].error = failures[i].text;
  if (search.is_ranked) rank(campaigns);
  const Results results{
      .text =
          [&](auto& out) {
            report::write_table(out, campaigns, context.style, search.is_ranked ? command_of(search) : "");
          },
      .page = [&](auto& out) { report::write_page(out, campaigns, reports, GRADWAY_VERSION); },
      .files = {{search.file, [&](auto& out) {
                   report::write(out, report::json_document(campaigns, reports, GRADWAY_VERSION));
                 }}}};
  show(results, arguments.json ? search.file : "", writes_files ? arguments.out : "", context);
  // Points that cannot run are a result of a search, but an error of campaigns that were requested one by
  // one.
  return search.is_ranked ? (status_of(failures) == Status::bug ? Status::bug : Status::done)
                          : status_of(failures);
}

Status vary_campaign(const CampaignArguments& arguments, const CLI::App& app, const CommandContext& context) {
  return simulate_campaign_points({.arguments = arguments,
                                   .fixed = overrides_of(arguments.set, arguments.shorthands),
                                   .axes = parse_axes(arguments.vary),
                                   .file = "campaigns.json"},
                                  app, context);
}

void add_campaign_options(CLI::App& app, CampaignArguments& arguments) {
  app.add_option("--seeds", arguments.seeds,
                 fmt::format("number of simulated runs per campaign (default: {})", arguments.seeds))
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--sure", arguments.sure,
                 "share of the runs that must keep a limit, such as '90 %' (default: 50 %)")
      ->type_name("SHARE");
}

}  // namespace gradway::cli
