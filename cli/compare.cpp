// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/campaign.hpp"
#include "cli/commands.hpp"
#include "cli/points/platforms.hpp"
#include "cli/points/points.hpp"
#include "cli/points/programs.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/out_folder.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/points/compare.hpp"
#include "sim/report/run/json.hpp"

namespace gradway::cli {
namespace {

struct CompareArguments {
  std::string scenario;
  std::string platforms;
  std::string gpu;
  std::string gpus;
  std::vector<std::string> set;
  TrainingOptions training;
  PriceChoice price;
  std::string engine = "fluid";  // runs in this process
  std::string out;
  int jobs = 0;
  bool json = false;
  bool csv = false;
  bool campaign = false;
  CampaignArguments campaign_choice{};
  std::string after;
  std::optional<std::string> limit;
  bool markdown = false;
};

/// A requested combination and its result, which is left out if there is a reason.
struct Combination : report::LeftOut {
  report::ComparedJob job{};
  Answer result{};
  report::JsonDocument report{};
};

std::vector<Combination> combinations_of(const CompareArguments& arguments, const DataPath& data) {
  const auto counts =
      arguments.gpus.empty() ? std::vector<std::string>{""} : list_of("--gpus", arguments.gpus);
  std::vector<Combination> combinations;
  for (const auto& platform : platforms_of(arguments.platforms, data, arguments.gpu)) {
    for (const auto& gpus : counts) combinations.push_back({{platform, gpus}});
  }
  return combinations;
}

/// The overrides. @throws ConfigError for keys that the options of the comparison set
std::vector<Override> fixed_overrides(const CompareArguments& arguments) {
  auto fixed = parse_overrides(arguments.set);
  for (const auto& change : fixed) {
    if (change.key == "platform") refuse("'platform' is set and compared", "leave out '--set' for it");
    if (change.key == "job.gpus" && !arguments.gpus.empty())
      refuse("'job.gpus' is set and compared", "leave out '--set' or '--gpus' for it");
  }
  return fixed;
}

/// What all combinations share.
struct ComparisonRequest {
  const CompareArguments& arguments;
  std::optional<TrainingGoal> goal;
  std::vector<Override> fixed;
  DataPath data;
};

void run(Combination& combination, const ComparisonRequest& request) {
  const auto& [arguments, goal, fixed, data] = request;
  auto overrides = fixed;
  overrides.push_back(given_by("--platforms", "platform", combination.platform));
  if (!combination.gpus.empty()) overrides.push_back(given_by("--gpus", "job.gpus", combination.gpus));
  auto loaded = load_scenario(arguments.scenario, overrides, data, arguments.price);
  check_goal(goal, arguments.training, loaded);
  const auto finished = ask(std::move(loaded), {.engine = arguments.engine});
  const auto& scenario = finished.scenario;
  combination.result = answer_of(finished);
  combination.does_not_fit = combination.result.verdict == MemoryVerdict::does_not_fit;
  if (combination.does_not_fit) {
    combination.reason = combination.result.failure_reason;
    return;
  }
  combination.job = {scenario.name, scenario.model.name, scenario.job, scenario.platform.speeds};
  if (goal) {
    const auto training = training_of(*goal, combination.result.metrics, combination.result.range);
    if (!meets(training)) {
      combination.training = training;
      combination.reason = report::missed_limits_in_words(training);
    }
  }
  combination.report = report::json_document(finished, GRADWAY_VERSION);
}

/// Combinations that ran in the order of their cost, and the others with the reason.
report::PlatformComparison sorted(std::vector<Combination> combinations,
                                  const std::vector<Failure>& failures) {
  report::PlatformComparison compared;
  std::vector<std::size_t> ran;
  std::vector<Answer> results;
  for (std::size_t i = 0; i < combinations.size(); ++i) {
    auto& combination = combinations[i];
    if (failures[i].status != Status::done)
      combination.reason = fmt::format("{}", fmt::join(failures[i].reasons, "; "));
    if (compared.scenario.empty()) static_cast<report::ComparedJob&>(compared) = combination.job;
    if (!combination.reason.empty()) {
      compared.left_out.push_back(combination);
    } else {
      ran.push_back(i);
      results.push_back(combination.result);
    }
  }
  for (const auto i : by_cost(results)) {
    compared.runs.push_back(results[i]);
    compared.reports.push_back(combinations[ran[i]].report);
  }
  return compared;
}

/// Whether anything ran, including trainings that miss their limits.
bool has_answer(const report::PlatformComparison& compared) {
  return !compared.runs.empty() || std::ranges::any_of(compared.left_out, [](const auto& excluded) {
    return excluded.training.has_value();
  });
}

/// Reports that nothing ran: each error once, or the jobs that do not fit.
Status report_failures(const report::PlatformComparison& compared, const std::vector<Failure>& failures,
                       std::ostream& messages) {
  raise_wrong_input(failures);
  if (const auto status = status_of(failures); status != Status::done) {
    write_distinct_failures(failures, messages);
    return status;
  }
  std::vector<Problem> problems;
  for (const auto& excluded : compared.left_out)
    problems.push_back(
        {{}, fmt::format("the job {} (platform '{}')", excluded.reason, excluded.platform), {}, ""});
  problems.back().hint = "no platform has enough memory: use a smaller batch, or GPUs with more memory";
  throw ConfigError{std::move(problems)};
}

/// Whether there is neither a platform nor a file of this name.
bool is_unknown_platform(const std::string& platform, const ComparisonRequest& request) {
  std::error_code ignored;
  if (std::filesystem::exists(platform, ignored)) return false;
  try {
    find_name(DataKind::platform, platform, request.data, {}, request.arguments.scenario);
    return false;
  } catch (const ConfigError&) {
    return true;
  }
}

/// The failures of platforms that do not exist.
std::vector<Failure> unknown_platforms(const std::vector<Combination>& combinations,
                                       const std::vector<Failure>& failures,
                                       const ComparisonRequest& request) {
  std::vector<Failure> unknown;
  for (std::size_t i = 0; i < combinations.size(); ++i) {
    if (failures[i].status == Status::wrong_input && is_unknown_platform(combinations[i].platform, request))
      unknown.push_back(failures[i]);
  }
  return unknown;
}

/// Compares whole trainings on the platforms.
Status compare_campaigns(const CompareArguments& arguments, const CLI::App& app,
                         const CommandContext& context) {
  if (arguments.csv) refuse("campaigns cannot be written as CSV", "give '--json'");
  CampaignSearch search{
      .arguments = campaign_arguments(
          arguments, {.scenario = arguments.scenario, .engine = arguments.engine, .price = arguments.price}),
      .fixed = fixed_overrides(arguments),
      .axes = {{"platform", platforms_of(arguments.platforms, context.data, arguments.gpu)}},
      .is_ranked = true,
      .file = "compare.json"};
  add_campaign_keys(search.fixed, arguments.training);
  if (!arguments.gpus.empty()) search.axes.push_back({"job.gpus", list_of("--gpus", arguments.gpus)});
  return simulate_campaign_points(search, app, context);
}

/// Compares two states of a program, or two scenarios.
Status compare_two(const CompareArguments& arguments, const CommandContext& context) {
  if (arguments.json && arguments.markdown)
    refuse("'--json' and '--markdown' are both given", "give one of them");
  ProgramsRequest request{.before = arguments.scenario,
                          .after = arguments.after,
                          .set = fixed_overrides(arguments),
                          .engine = arguments.engine,
                          .limit = percentage("--limit", arguments.limit),
                          .json = arguments.json,
                          .markdown = arguments.markdown};
  if (!arguments.platforms.empty() || !arguments.gpu.empty())
    request.platforms = platforms_of(arguments.platforms, context.data, arguments.gpu);
  if (!arguments.gpus.empty()) request.gpus = list_of("--gpus", arguments.gpus);
  return compare_programs(request, context);
}

Status compare(const CompareArguments& arguments, const CLI::App& app, const CommandContext& context) {
  check_engine(arguments.engine);
  if (!arguments.after.empty()) return compare_two(arguments, context);
  if (arguments.platforms.empty() && arguments.gpu.empty())
    refuse("'gradway compare' needs --platforms or --gpu, or a second file",
           "such as \"--platforms 'aws-*'\" or '--gpu h100' (see 'gradway compare --help')");
  if (arguments.campaign) return compare_campaigns(arguments, app, context);
  if (arguments.json && arguments.csv) refuse("'--json' and '--csv' are both given", "give one of them");
  const bool writes_files = wants_files(app, arguments.out);
  const ComparisonRequest request{arguments, training_goal(arguments.training), fixed_overrides(arguments),
                                  with_file_cache(context.data)};
  auto combinations = combinations_of(arguments, context.data);
  const auto failures = run_points(context, "combination", combinations.size(), arguments.jobs,
                                   [&](std::size_t i) { run(combinations[i], request); });
  if (const auto unknown = unknown_platforms(combinations, failures, request); !unknown.empty())
    return report_failures({}, unknown, context.messages);
  auto compared = sorted(combinations, failures);
  compared.goal = request.goal;
  if (!has_answer(compared)) return report_failures(compared, failures, context.messages);

  const Results results{
      .text = [&](auto& out) { report::write_table(out, compared, context.style); },
      .page = [&](auto& out) { report::write_page(out, compared, GRADWAY_VERSION); },
      .files = {{"compare.json",
                 [&](auto& out) { report::write(out, report::json_document(compared, GRADWAY_VERSION)); }},
                {"compare.csv", [&](auto& out) { report::write_csv(out, compared); }}}};
  show(results,
       arguments.json  ? "compare.json"
       : arguments.csv ? "compare.csv"
                       : "",
       writes_files ? arguments.out : "", context);
  return status_of(failures) == Status::bug ? Status::bug : Status::done;
}

}  // namespace

Action add_compare(CLI::App& app) {
  const auto arguments = std::make_shared<CompareArguments>();
  app.add_option("SCENARIO", arguments->scenario,
                 "scenario: a file, or a name from 'gradway list scenarios'; with AFTER also a capture")
      ->required();
  auto* const after = app.add_option("AFTER", arguments->after,
                                     "the same program after a change: a capture or a scenario, whose step, "
                                     "memory and communication are compared with those of the first");
  add_platforms(app, arguments->platforms, arguments->gpu);
  app.add_option("--gpus", arguments->gpus,
                 "numbers of GPUs, such as 8,16 or 1..8, for each platform (default: the scenario's)")
      ->type_name("N,M,...");
  add_flag(app, "--campaign", arguments->campaign,
           "compare whole trainings by the scenario's campaign: failures, checkpoints, terms");
  add_campaign_options(app, arguments->campaign_choice);
  add_overrides(app, arguments->set);
  add_training_options(app, arguments->training);
  add_price_options(app, arguments->price);
  add_engine(app, arguments->engine);
  add_jobs(app, arguments->jobs);
  add_out(app, arguments->out, "report.html, compare.json and compare.csv");
  add_flag(app, "--json", arguments->json, "print all reports as one JSON document");
  auto* const csv = add_flag(app, "--csv", arguments->csv, "print one row per combination as CSV");
  add_flag(app, "--markdown", arguments->markdown, "with AFTER: print a text for a review")->needs(after);
  app.add_option("--limit", arguments->limit,
                 "with AFTER: exit status 4 if the step becomes longer by more than this, or no longer fits")
      ->type_name("PERCENT")
      ->needs(after);
  after->excludes(csv);
  for (const auto* option : {"--campaign", "--out", "--tokens", "--samples"})
    after->excludes(app.get_option(option));
  return [arguments, &app](const CommandContext& context) { return compare(*arguments, app, context); };
}

}  // namespace gradway::cli
