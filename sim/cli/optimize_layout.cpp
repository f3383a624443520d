// SPDX-License-Identifier: Apache-2.0
// `optimize --layout`
#include <cmath>

#include <fmt/format.h>

#include "sim/cli/commands.hpp"
#include "sim/cli/optimize.hpp"
#include "sim/cli/shell/interrupt.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/cli/shell/progress.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/search/layouts.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

constexpr int most_samples = 1'000'000'000;  // per step

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
      value_of("--global-batch", arguments.global_batch, config::integer(1, most_samples));
  if (global_batch) return *global_batch;
  const auto samples = written.job.samples();
  if (samples > most_samples)
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

}  // namespace

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
                           .for_each = in_parallel(arguments.jobs),
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

}  // namespace gradway::cli
