// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/campaign.hpp"
#include "cli/commands.hpp"
#include "cli/points/points.hpp"
#include "cli/shell/command_context.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/failure.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/progress.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/report/search/optimize.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/study/ask/values_to_try.hpp"
#include "sim/study/campaign/campaign.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/search_space.hpp"
#include "sim/study/search/training_plan.hpp"

namespace gradway::cli {
namespace {

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

/// Prints a search, and writes its document, the code of what it recommends and a page if asked.
template <class SearchReport, class Code>
void show_search(const SearchReport& search, const Code& snippet, const OptimizeArguments& arguments,
                 bool writes_files, const CommandContext& context) {
  const Results results{
      .text = [&](auto& out) { report::write_table(out, search, context.style); },
      .page = [&](auto& out) { report::write_page(out, search, GRADWAY_VERSION); },
      .files = {{"optimize.json",
                 [&](auto& out) { report::write(out, report::json_document(search, GRADWAY_VERSION)); }},
                {snippet.file, [&](auto& out) { out << snippet.text; }}}};
  show(results, arguments.json ? "optimize.json" : "", writes_files ? arguments.out : "", context);
}

/// Refuses options for settings that this search does not vary, and overrides of keys that it does.
void check_layout_options(const OptimizeArguments& arguments, const std::vector<Override>& set) {
  if (!arguments.search.over.empty())
    refuse("'--over' selects settings of a strategy, but '--layout' searches all of the layout",
           "leave one of them out");
  if (arguments.search.lossy)
    refuse("'--layout' does not search communication hooks, so '--lossy' cannot be given", "leave it out");
  for (const auto& change : set) {
    for (const auto* key : {"parallel.tensor", "parallel.sequence", "parallel.pipeline", "parallel.virtual",
                            "parallel.replicate", "job.recompute"}) {
      if (change.key == key) refuse(fmt::format("'{}' is set and searched", key), "leave out '--set' for it");
    }
  }
}

int samples_of_step(const OptimizeArguments& arguments, const Scenario& written) {
  const auto global_batch =
      value_of("--global-batch", arguments.global_batch, config::integer(1, most_samples_per_step));
  if (global_batch) return *global_batch;
  const auto samples = written.job.samples();
  if (samples > most_samples_per_step)
    refuse(fmt::format("the job has {:.0f} samples per step", samples), "give '--global-batch N'");
  return static_cast<int>(std::lround(samples));
}

[[noreturn]] void refuse_all(const Scenario& written, const LayoutSearchResult& result) {
  if (result.unfit.empty())
    refuse(fmt::format("no layout can run: {}", result.refused.front().failure_reason),
           "leave out the settings of NCCL");
  const auto& least = result.unfit.front();
  const auto& gpu = written.platform.gpu_models.front();
  refuse(fmt::format("no layout fits: the smallest ({}) needs {} of {} on each {}",
                     report::describe(least.job.layout, least.job), report::bytes_text(least.memory),
                     report::bytes_text(gpu.memory), gpu.name),
         "use more GPUs, or GPUs with more memory");
}

/// `optimize --layout`: searches how ranks share the model, not the settings of one strategy.
Status optimize_layout(const OptimizeArguments& arguments, const CLI::App& app,
                       const CommandContext& context) {
  const bool writes_files = wants_files(app, arguments.out);
  const auto goal = training_goal(arguments.training);
  const auto set = parse_overrides(arguments.set);
  check_layout_options(arguments, set);
  const auto written = load_scenario(arguments.search.scenario, set, context.data, arguments.search.price);
  check_goal(goal, arguments.training, written);
  const auto samples = samples_of_step(arguments, written);
  const auto rows = arguments.top > 0 ? arguments.top : report::LayoutSearchReport{}.rows;
  auto result = [&] {
    Progress progress{context, Progress::WithoutTerminal::lines};
    const InterruptNote note;
    return search_layouts(written, samples, exact_search(rows),
                          {.engine = arguments.engine,
                           .threads = arguments.jobs,
                           .on_progress = progress.callback(),
                           .is_stopped = InterruptNote::is_interrupted});
  }();
  if (result.ranked.empty()) refuse_all(written, result);
  const auto not_tried = result.not_tried;
  if (not_tried > 0)
    context.messages << fmt::format("gradway: interrupted; the best so far, {} layouts were not tried\n",
                                    not_tried);
  const report::LayoutSearchReport search_report{.written = written,
                                                 .engine = arguments.engine,
                                                 .global_batch = samples,
                                                 .found = std::move(result),
                                                 .goal = goal,
                                                 .rows = rows};
  const auto snippet = report::layout_snippet(search_report.found.recommended().job, search_report.shape());
  show_search(search_report, snippet, arguments, writes_files, context);
  return not_tried > 0 ? Status::unfinished : Status::done;
}

/// The keys of a campaign to search on the same hardware, as far as the scenario has their data.
std::vector<Axis> axes_of(const Scenario& written, const std::vector<Override>& set) {
  const auto& campaign = *written.campaign;
  const auto is_set = [&](const char* key) {
    return std::ranges::find(set, key, &Override::key) != set.end();
  };
  std::vector<Axis> axes;
  const auto add = [&](const char* key) { axes.push_back({key, values_to_try(written, key)}); };
  const bool has_prices = price_of_node(written, Terms::on_demand) && price_of_node(written, Terms::spot);
  if (campaign.spot && has_prices && !is_set("campaign.spot.share") && !is_set("campaign.terms"))
    add("campaign.spot.share");
  if (campaign.spares && !is_set("campaign.spares")) add("campaign.spares");
  if (campaign.checkpoint && campaign.checkpoint->interval && !is_set("campaign.checkpoint.interval"))
    add("campaign.checkpoint.interval");
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

/// `optimize --campaign`: searches the cluster, layout, terms and spares with which a campaign is cheapest or
/// fastest.
Status optimize_campaign(const OptimizeArguments& arguments, const CLI::App& app,
                         const CommandContext& context) {
  check_options(arguments);
  CampaignSearch search{.arguments = campaign_arguments(arguments, {.scenario = arguments.search.scenario,
                                                                    .engine = arguments.engine,
                                                                    .price = arguments.search.price}),
                        .fixed = parse_overrides(arguments.set),
                        .axes = parse_axes(arguments.search.over, "--over"),
                        .is_ranked = true,
                        .finds_layout = arguments.layout,
                        .global_batch = value_of("--global-batch", arguments.global_batch,
                                                 config::integer(1, most_samples_per_step)),
                        .file = "optimize.json"};
  add_campaign_keys(search.fixed, arguments.training);
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

Status optimize(const OptimizeArguments& arguments, const CLI::App& app, const CommandContext& context) {
  check_engine(arguments.engine);
  if (arguments.campaign) return optimize_campaign(arguments, app, context);
  if (arguments.layout) return optimize_layout(arguments, app, context);
  if (!arguments.global_batch.empty())
    refuse("'--global-batch' needs '--layout'", "give '--layout' too, or leave it out");
  if (arguments.top > 0) refuse("'--top' needs '--layout'", "give '--layout' too, or leave it out");
  const bool writes_files = wants_files(app, arguments.out);
  const auto goal = training_goal(arguments.training);
  auto search = arguments.search;
  search.set = parse_overrides(arguments.set);
  auto asked = read_search(search, context.data);
  check_goal(goal, arguments.training, asked.space.jobs.front());
  asked.space.goal = goal;
  auto result = gradway::optimize(asked.space, arguments.engine,
                                  [&](std::size_t count, const std::function<void(std::size_t)>& work) {
                                    Progress progress{context, "step", count};
                                    for_each_in_parallel(count, arguments.jobs, [&](std::size_t i) {
                                      work(i);
                                      progress.step();
                                    });
                                  });
  if (!result.optimum) {
    const auto& left_out = result.left_out;  // includes the job as written, which does not fit
    const auto least = std::ranges::min_element(left_out, {}, [](const Answer& setting) {
      return setting.memory > 0_B ? setting.memory : Bytes::infinite();
    });
    refuse(fmt::format("the job {}, with the settings that need the least memory", least->failure_reason),
           "use a smaller batch, or GPUs with more memory");
  }
  const report::SettingsSearchReport search_report{arguments.engine, std::move(asked), std::move(result)};
  const auto snippet = report::snippet_of(search_report.optimum().best.job);
  show_search(search_report, snippet, arguments, writes_files, context);
  return Status::done;
}

}  // namespace

Action add_optimize(CLI::App& app) {
  const auto arguments = std::make_shared<OptimizeArguments>();
  auto& search = arguments->search;
  add_scenario(app, search.scenario);
  app.add_option(
         "--over", search.over,
         "settings to search, or a key and its values\n"
         "DDP: bucket_cap, static_graph, gradient_as_bucket_view, comm_hook (the default), powersgd_rank\n"
         "FSDP, ZeRO: wrap, replicate ..., recompute (by default all)\n"
         "data loader: input.loader_workers, input.prefetch_factor, input.storage ...")
      ->type_name("NAME,...|KEY=V1,...")
      ->allow_extra_args(false);
  add_flag(app, "--lossy", search.lossy,
           "also search communication hooks that change the values of gradients");
  add_flag(app, "--layout", arguments->layout,
           "search for the fastest layout: tensor, context, expert, pipeline and data parallelism, "
           "micro-batches and recomputation");
  app.add_option("--global-batch", arguments->global_batch,
                 "samples per step for --layout (default: the scenario's)")
      ->type_name("N");
  app.add_option("--top", arguments->top, "layouts to show with --layout, the fastest first (default: 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  add_flag(app, "--campaign", arguments->campaign,
           "search for the best campaign: checkpoint intervals, spare nodes, shares of "
           "spot nodes, or the keys of --over; with --layout each with its fastest layout");
  add_campaign_options(app, arguments->campaign_choice);
  add_overrides(app, arguments->set);
  add_engine(app, arguments->engine);
  add_training_options(app, arguments->training);
  add_price_options(app, search.price);
  add_jobs(app, arguments->jobs);
  add_out(app, arguments->out,
          "report.html, optimize.json and the settings as code: ddp.py, fsdp.py or ds_config.json, with "
          "--layout megatron.txt or torchtitan.toml");
  add_flag(app, "--json", arguments->json, "print the result as one JSON document");
  return [arguments, &app](const CommandContext& context) { return optimize(*arguments, app, context); };
}

}  // namespace gradway::cli
