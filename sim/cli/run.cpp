// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/cli/shell/progress.hpp"
#include "sim/cli/shell/training_options.hpp"
#include "sim/files/gzip_stream.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/run/json.hpp"
#include "sim/report/run/terminal.hpp"
#include "sim/report/trace/trace.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

struct RunArguments {
  std::string scenario;
  std::vector<std::string> set;
  Shorthands shorthands;
  std::string engine = "auto";
  std::string out;
  PriceChoice price;
  TrainingOptions training;
  bool fit = false;
  bool json = false;
  bool no_folding = false;
  bool verbose = false;
};

/// @param questions gets the largest batch if `--fit` is given; then the run has this batch. It also gets the
/// ways of a dataset that is staged
Run simulated(const RunArguments& arguments, const std::vector<Override>& overrides,
              const CommandContext& context, report::RunQuestions& questions) {
  Progress progress{context};
  const auto on_progress = progress.callback();
  report_progress(on_progress, "reading the scenario and building its platform");
  auto scenario = load_scenario(arguments.scenario, overrides, context.data, arguments.price);
  announce_large_platform(context, scenario.platform);
  check_goal(questions.goal, arguments.training, scenario);
  if (arguments.fit) {
    report_progress(on_progress, "searching for the largest batch");
    questions.largest_batch = largest_batch(scenario);
    scenario.job.batch_per_gpu = questions.largest_batch->batch;
  }
  const auto fold = arguments.no_folding ? FoldRanks::no : FoldRanks::yes;
  auto run = simulate(std::move(scenario), arguments.engine, fold, on_progress, FoldMicroBatches::yes,
                      context.timelines);
  if (run.scenario.job.input.staged_from) {
    report_progress(on_progress, "simulating the ways of the dataset");
    questions.ways_in = ways_in(run.scenario, arguments.engine, hardware_threads());
  }
  return run;
}

/// The run with all its micro-batches, to draw them. Empty if it has them, or if they are so many that a
/// period has to stand for those like it.
std::optional<Run> with_whole_timeline(const Run& run, const RunArguments& arguments) {
  constexpr double most_ops_drawn = 500'000;  // half a second, and a trace of some 50 MB
  const auto& repeated = run.window.repeated;
  if (repeated.left_out == 0) return std::nullopt;
  const auto of_period =
      std::ranges::count_if(run.timeline.end, [&](Seconds end) { return repeated.has(end); });
  const auto left_out = static_cast<double>(of_period) * repeated.left_out * run.workload.steps;
  if (static_cast<double>(run.ops.size()) + left_out > most_ops_drawn) return std::nullopt;
  return simulate(run.scenario, arguments.engine, FoldRanks::yes, {}, FoldMicroBatches::no);
}

Status run(const RunArguments& arguments, const CLI::App& app, const CommandContext& context) {
  check_engine(arguments.engine);
  const bool writes_files = wants_files(app, arguments.out);
  const auto overrides = overrides_of(arguments.set, arguments.shorthands);
  report::RunQuestions questions{.goal = training_goal(arguments.training)};
  auto finished = simulated(arguments, overrides, context, questions);
  const auto write_json = [&](std::ostream& out) {
    report::write_json(out, finished, GRADWAY_VERSION, questions);
  };
  if (arguments.json) {
    write_json(context.results);
  } else {
    const auto detail = arguments.verbose ? report::Detail::full : report::Detail::brief;
    report::write_text(context.results, finished, context.style, detail, questions);
  }
  if (writes_files) {
    const auto whole = with_whole_timeline(finished, arguments);
    const auto& drawn = whole ? *whole : finished;
    const auto write_trace = [&](std::ostream& out) {
      write_gzip(out, [&](std::ostream& text) { report::write_trace(text, drawn); });
    };
    write_results(
        arguments.out, {{"report.json", write_json}, {"trace.json.gz", write_trace}},
        [&](std::ostream& out) { report::write_page(out, drawn, GRADWAY_VERSION, questions); }, context);
  }
  if (context.timelines) keep(*context.timelines, std::move(finished));
  return Status::done;
}

}  // namespace

Action add_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  add_shorthands(app, arguments->shorthands);
  app.add_flag("--fit", arguments->fit, "use the largest batch that fits into the GPU's memory")
      ->disable_flag_override();
  add_training_options(app, arguments->training);
  add_engine(app, arguments->engine);
  add_price_options(app, arguments->price);
  app.add_flag("--no-folding", arguments->no_folding,
               "simulate every rank instead of one per group of identical ranks")
      ->disable_flag_override();
  app.add_flag("--verbose", arguments->verbose,
               "also print provenance, use of links, stages and all warnings")
      ->disable_flag_override();
  add_out(app, arguments->out, "report.html, report.json and trace.json.gz");
  app.add_flag("--json", arguments->json, "print the report as JSON")->disable_flag_override();
  return [arguments, &app](const CommandContext& context) { return run(*arguments, app, context); };
}

}  // namespace gradway::cli
