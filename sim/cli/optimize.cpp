// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/campaign/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/optimize.hpp"
#include "sim/cli/points/points.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/cli/shell/progress.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/search/optimize.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

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
    const auto least = std::ranges::min_element(left_out, {}, [](const SettingResult& setting) {
      return setting.memory > 0_B ? setting.memory : Bytes::infinite();
    });
    refuse(fmt::format("the job {}, with the settings that need the least memory", least->failure_reason),
           "use a smaller batch, or GPUs with more memory");
  }
  const report::SettingsSearchReport search_report{arguments.engine, std::move(asked), std::move(result)};
  const auto snippet = report::snippet_of(search_report.job_of(search_report.optimum().best));
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
