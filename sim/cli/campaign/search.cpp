// SPDX-License-Identifier: Apache-2.0
// Campaigns with several values of keys, for `campaign --vary`, `compare --campaign` and `optimize
// --campaign`.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/shell_word.hpp"
#include "sim/cli/campaign/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/points/points.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/report/campaign/campaign.hpp"
#include "sim/report/campaign/campaign_points.hpp"
#include "sim/report/page/page.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/layouts.hpp"

namespace gradway::cli {
namespace {

/// Groups points that differ in keys of `campaign` only, so that they have the same step.
std::vector<std::vector<std::size_t>> by_step(const CampaignSearch& search,
                                              const std::vector<CampaignPoint>& points) {
  std::map<std::vector<std::string>, std::size_t> places;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<std::string> key;
    for (std::size_t axis = 0; axis < search.axes.size(); ++axis)
      if (!search.axes[axis].key.starts_with("campaign.")) key.push_back(points[i].values[axis]);
    const auto [place, is_new] = places.emplace(std::move(key), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(i);
  }
  return groups;
}

/// The fastest layout of the scenario's job on its platform.
Job fastest_layout(const Scenario& written, const CampaignSearch& search) {
  const auto samples = search.global_batch.value_or(static_cast<int>(std::lround(written.job.samples())));
  const auto result = search_layouts(written, samples, quick_search(), {.engine = search.arguments.engine});
  if (result.ranked.empty())
    refuse("no layout of this job can run", "use more GPUs, or GPUs with more memory");
  return result.recommended().job;
}

/// Simulates points with the same step.
class StepSimulation {
 public:
  StepSimulation(const CampaignSearch& search, const CampaignQuestions& questions,
                 const VariedScenario& varied)
      : search_{search}, questions_{questions}, varied_{varied} {}

  /// @param report of the point; null if only figures are asked for
  void simulate_point(CampaignPoint& point, report::JsonDocument* report) {
    const auto overrides = varied_.overrides_of(point.values);
    if (!run_) {
      run_ = simulated(overrides);
    } else {
      auto scenario = load_campaign(search_.arguments, overrides, varied_.data);
      run_->scenario.campaign = std::move(scenario.campaign);
      run_->scenario.phases = std::move(scenario.phases);
      check_length(*run_);
    }
    const report::Campaign outcome{*run_, questions_, answers_of(*run_, questions_)};
    if (report != nullptr) *report = report::json_document(outcome, GRADWAY_VERSION);
    if (search_.finds_layout) report::add_layout(point, run_->scenario);
    add_answers(point, *run_, outcome.answers);
  }

 private:
  Run simulated(const std::vector<Override>& overrides) const {
    const auto& arguments = search_.arguments;
    if (!search_.finds_layout) return step_of_campaign(arguments, overrides, varied_.data, {});
    auto scenario = load_campaign(arguments, overrides, varied_.data);
    if (!scenario.phases.empty())
      refuse("'--layout' needs a campaign with the same settings from start to end, but this one has phases",
             "search the layout without them, then set it in the scenario");
    scenario.job = fastest_layout(scenario, search_);
    auto run = simulate(std::move(scenario), arguments.engine);
    check_length(run);
    return run;
  }

  const CampaignSearch& search_;
  const CampaignQuestions& questions_;
  const VariedScenario& varied_;
  std::optional<Run> run_{};
};

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
  const auto groups = by_step(search, campaigns.points);
  const auto cores = search.arguments.jobs > 0 ? search.arguments.jobs : hardware_threads();
  auto questions = campaigns.questions;
  questions.threads = std::max(1, cores / static_cast<int>(groups.size()));  // groups run in parallel
  std::vector<Failure> failures(campaigns.points.size());
  run_points(context, "campaign", groups.size(), search.arguments.jobs, [&](std::size_t group) {
    StepSimulation step{search, questions, varied};
    for (const auto i : groups[group]) {
      failures[i] = failure_of([&] {
        step.simulate_point(campaigns.points[i], reports.empty() ? nullptr : &reports[i]);
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
