// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/campaign/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/points/points.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/cli/shell/progress.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/report/campaign/campaign.hpp"
#include "sim/report/page/page.hpp"
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

}  // namespace gradway::cli
