// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/what_if.hpp"
#include "observe/measured/measured_step.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/page/run_document.hpp"
#include "sim/report/run/json.hpp"
#include "sim/report/run/terminal.hpp"
#include "sim/report/trace/trace.hpp"
#include "sim/run/whole_timeline.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/explain/explain.hpp"
#include "sim/study/parallel.hpp"
#include "writers/memory_viz/memory_snapshot.hpp"

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
  bool must_fit = false;
  bool json = false;
  bool no_folding = false;
  bool verbose = false;
  bool page_data = false;
  bool what_if = false;
  std::string measured;
};

/// @param questions gets the largest batch if `--fit` is given; then the run has this batch. It also gets the
/// ways of a dataset that is staged
Run simulated(const RunArguments& arguments, const std::vector<Override>& overrides, const DataPath& data,
              const CommandContext& context, report::RunQuestions& questions) {
  Progress progress{context};
  const auto on_progress = progress.callback();
  report_progress(on_progress, "reading the scenario and building its platform");
  auto scenario = load_scenario(arguments.scenario, overrides, data, arguments.price);
  announce_large_platform(context, scenario.platform);
  check_goal(questions.goal, arguments.training, scenario);
  if (arguments.fit) {
    report_progress(on_progress, "searching for the largest batch and for what makes the job fit");
    questions.fit = take_what_fits(scenario, arguments.engine, hardware_threads());
  }
  auto run = ask(std::move(scenario), {.engine = arguments.engine,
                                       .fold = arguments.no_folding ? FoldRanks::no : FoldRanks::yes,
                                       .on_progress = on_progress,
                                       .timelines = context.timelines});
  if (run.scenario.job.input.staged_from) {
    report_progress(on_progress, "simulating the ways of the dataset");
    questions.ways_in = ways_in(run.scenario, arguments.engine, 0);
  }
  return run;
}

Status run(const RunArguments& arguments, const CLI::App& app, const CommandContext& context) {
  check_engine(arguments.engine);
  if (arguments.what_if) check_has_engine();
  const bool writes_files = wants_files(app, arguments.out);
  auto overrides = overrides_of(arguments.set, arguments.shorthands);
  const auto data = arguments.what_if ? with_file_cache(context.data) : context.data;
  report::RunQuestions questions{.goal = training_goal(arguments.training)};
  auto finished = simulated(arguments, overrides, data, context, questions);
  std::optional<MeasuredStep> measured;
  if (!arguments.measured.empty()) {
    measured = read_measured_step(arguments.measured, finished);
    find_causes(*measured, finished, arguments.engine, hardware_threads());
    constexpr std::size_t most_published = 4;
    measured->published = closest_published_steps(finished.scenario, data, most_published);
  }
  const auto write_json = [&](std::ostream& out) {
    report::write_json(out, finished, GRADWAY_VERSION, questions);
  };
  if (arguments.json && measured) {
    report::write_measured_json(context.results, *measured, finished);
  } else if (arguments.json) {
    write_json(context.results);
  } else if (arguments.page_data) {
    report::write_run_document(context.results, finished, arguments.engine, GRADWAY_VERSION, questions,
                               scenario_yaml(arguments.scenario, overrides, data));
  } else {
    const auto detail = arguments.verbose ? report::Detail::full : report::Detail::brief;
    report::write_text(context.results, finished, context.style, detail, questions);
    if (measured) report::write_measured(context.results, *measured, finished, context.style);
  }
  if (writes_files) {
    const auto whole_run = with_whole_timeline(finished, arguments.engine);
    const auto& drawn = whole_run ? *whole_run : finished;
    const auto write_trace = [&](std::ostream& out) {
      write_gzip(out, [&](std::ostream& text) { report::write_trace(text, drawn); });
    };
    std::optional<report::WhatIfFiles> what_if;
    if (arguments.what_if) {
      if (const auto& largest = questions.fit.largest_batch)
        overrides.push_back({"job.batch_per_gpu", fmt::format("{}", largest->batch)});
      what_if = what_if_files(arguments.scenario, overrides, data);
    }
    const auto write_page = [&](std::ostream& out) {
      report::write_page(out, finished, drawn, GRADWAY_VERSION, questions, what_if ? &*what_if : nullptr);
    };
    std::vector<OutputFile> files{{"report.json", write_json}, {"trace.json.gz", write_trace}};
    if (trains(finished.scenario.job.strategy) && knows_memory(finished.scenario))
      files.push_back(
          {"memory.pickle", [&](std::ostream& out) { report::write_memory_snapshot(out, finished); }});
    write_results(arguments.out, std::move(files), write_page, context);
  }
  const auto verdict = memory_range(finished.scenario, finished.measured.memory).verdict;
  if (context.timelines) keep(*context.timelines, std::move(finished));
  return arguments.must_fit && verdict > MemoryVerdict::tight ? Status::limit_passed : Status::done;
}

}  // namespace

Action add_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  add_shorthands(app, arguments->shorthands);
  add_flag(
      app, "--fit", arguments->fit,
      "use the largest batch that fits into the GPU's memory, and name what makes the job fit as written");
  add_flag(app, "--must-fit", arguments->must_fit,
           "exit status 4 if the job does not fit, or may not fit, into the GPU's memory");
  add_training_options(app, arguments->training);
  add_engine(app, arguments->engine);
  add_price_options(app, arguments->price);
  add_flag(app, "--no-folding", arguments->no_folding,
           "simulate every rank instead of one per group of identical ranks");
  add_flag(app, "--verbose", arguments->verbose,
           "also print provenance, use of links, stages and all warnings");
  app.add_option("--measured", arguments->measured,
                 "a measured step: a time or a rate with its unit, a line of a log or a log; says what could "
                 "explain a difference")
      ->type_name("STEP");
  add_out(app, arguments->out, "report.html, report.json, trace.json.gz and memory.pickle");
  add_flag(app, "--what-if", arguments->what_if,
           "let report.html simulate other settings: it then contains the engine, the installed data and "
           "the files that the scenario names")
      ->needs("--out")
      ->excludes("--prices")
      ->excludes("--price-date")
      ->excludes("--region")
      ->excludes("--terms");
  add_flag(app, "--json", arguments->json, "print the report as JSON; with --measured, the comparison");
  add_page_data(app, arguments->page_data)->excludes("--json");
  return [arguments, &app](const CommandContext& context) { return run(*arguments, app, context); };
}

}  // namespace gradway::cli
