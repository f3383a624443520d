// SPDX-License-Identifier: Apache-2.0
#include "sim/study/diagnose/diagnose.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/calibrate/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/import/nccl_log.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/config/config.hpp"
#include "sim/config/read/read.hpp"
#include "sim/fit/predictions.hpp"
#include "sim/import/kineto/read/read_trace.hpp"
#include "sim/import/topology/gpu_name.hpp"
#include "sim/report/diagnose/diagnose.hpp"
#include "sim/report/nccl_log/nccl_log.hpp"
#include "sim/report/run/calibration_check.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::cli {
namespace {

struct DiagnoseArguments {
  std::vector<std::string> traces;
  std::string scenario;
  std::vector<std::string> set;
  std::string platform;
  std::string step_time;
  std::vector<std::string> nccl_logs;
  std::vector<std::string> samples;
  std::string out;
  std::optional<std::string> max_lost;
  bool json = false;
};

/// The platforms with this GPU whose nodes have enough of them come first, then those with the fewest.
std::string platform_with(const std::string& gpu, int ranks, const CommandContext& context) {
  std::string best;
  std::size_t least = 0;
  bool holds = false;
  for (const auto& name : list_names(DataKind::platform, context.data)) {
    const auto node = load_platform(name, 1, context.data);
    if (node.gpu_models.empty() || node.gpu_models.front().name != gpu) continue;
    const auto gpus = node.gpus.size() / static_cast<std::size_t>(std::max(1, node.nodes));
    const bool all = gpus >= static_cast<std::size_t>(ranks);
    if (!best.empty() && (holds > all || (holds == all && gpus >= least))) continue;
    best = name;
    least = gpus;
    holds = all;
  }
  return best;
}

int ranks_on(const std::string& platform, int ranks, const CommandContext& context) {
  const auto node = load_platform(platform, 1, context.data);
  const auto per_node = static_cast<int>(node.gpus.size()) / std::max(1, node.nodes);
  return (ranks + per_node - 1) / per_node * per_node;
}

DiagnosisBasis basis_of(const DiagnoseArguments& arguments, const JobRun& run,
                        const CommandContext& context) {
  DiagnosisBasis basis;
  if (!arguments.scenario.empty()) {
    auto scenario = load_scenario(arguments.scenario, parse_overrides(arguments.set), context.data);
    const auto simulated = simulate(scenario);
    basis.step =
        ExpectedStep{simulated.range.low, simulated.measured.metrics.step_time, simulated.range.high};
    basis.precision = scenario.job.precision;
    basis.platform_name = scenario.platform.name;
    basis.nccl = nccl_settings(scenario.job.nccl);
    basis.calibration = scenario.calibration;
    basis.platform = scenario.platform;
    return basis;
  }
  basis.platform_name = arguments.platform;
  if (basis.platform_name.empty()) {
    basis.is_platform_assumed = true;
    Where file;
    file.file = run.ranks.front().file;
    const auto gpu = gpu_name(run.ranks.front().gpu, std::nullopt, list_names(DataKind::gpu, context.data),
                              file, "the trace");
    basis.platform_name = platform_with(gpu, run.world, context);
    if (basis.platform_name.empty())
      refuse(fmt::format("no platform has GPUs like '{}'", gpu), "name one with --platform");
  }
  basis.platform = load_platform(basis.platform_name, ranks_on(basis.platform_name, run.world, context),
                                 context.data, &basis.calibration);
  return basis;
}

/// What else was measured on the node, compared with the platform: NCCL's log and samples of the probe.
std::vector<report::DiagnosisSection> sections_of(const DiagnoseArguments& arguments,
                                                  const DiagnosisBasis& basis,
                                                  const CommandContext& context) {
  std::vector<report::DiagnosisSection> sections;
  const report::Style style;
  if (!arguments.nccl_logs.empty()) {
    const auto log = read_nccl_logs(arguments.nccl_logs);
    std::ostringstream text;
    report::write_nccl_log(text, log, basis.platform_name,
                           check_communicators(log, basis.platform_name, context), style);
    sections.push_back({"What NCCL chose", text.str()});
  }
  if (!arguments.samples.empty()) {
    constexpr std::size_t most_rows = 30;
    const auto samples = read_samples_with_remarks(arguments.samples, context);
    const auto rows =
        predict_samples(basis.calibration, samples, facts_of(basis.platform_name, samples, context));
    std::ostringstream text;
    report::write_check(text, rows, most_rows, style);
    sections.push_back({"What the probe measured", text.str()});
  }
  return sections;
}

Status diagnose_traces(const DiagnoseArguments& arguments, const CommandContext& context) {
  if (arguments.scenario.empty() && !arguments.set.empty())
    refuse("'--set' changes a scenario, but none is given", "name it with --scenario");
  const auto most = percentage("--max-lost", arguments.max_lost);
  const auto step_time = value_of("--step-time", arguments.step_time, config::duration);
  KernelNames names;
  std::vector<RankRun> ranks;
  for (const auto& file : arguments.traces) ranks.push_back(rank_run(read_trace(file, file), file, names));
  const auto run = job_run(std::move(ranks), std::move(names));
  const auto basis = basis_of(arguments, run, context);
  const auto sections = sections_of(arguments, basis, context);
  const auto found = diagnose(run, basis, step_time);
  if (arguments.json) {
    report::write_json(context.results, run, basis, found);
  } else {
    report::write_diagnosis(context.results, run, basis, found, context.style);
    for (const auto& section : sections) context.results << '\n' << section.title << "\n\n" << section.text;
  }
  if (!arguments.out.empty()) {
    write_named_files(
        arguments.out,
        {{"diagnosis.html", [&](std::ostream& out) { report::write_page(out, run, basis, found, sections); }},
         {"diagnosis.json", [&](std::ostream& out) { report::write_json(out, run, basis, found); }}},
        context);
  }
  if (!most || found.lost_share() <= *most) return Status::done;
  context.messages << fmt::format("error: {:.2f} % of the time is lost, more than the limit of {:.4g} %\n",
                                  found.lost_share() * 100, *most * 100);
  return Status::limit_passed;
}

}  // namespace

Action add_diagnose(CLI::App& app) {
  const auto arguments = std::make_shared<DiagnoseArguments>();
  app.add_option("TRACE", arguments->traces, "traces of the PyTorch profiler, one per rank")->required();
  app.add_option("--scenario", arguments->scenario, "scenario of the run, to compare with its prediction");
  add_overrides(app, arguments->set);
  app.add_option("--platform", arguments->platform, "platform that the job ran on")->type_name("NAME");
  app.add_option("--step-time", arguments->step_time, "step time measured without the profiler")
      ->type_name("TIME");
  app.add_option("--nccl-log", arguments->nccl_logs,
                 "also compare a log of NCCL_DEBUG=INFO with the platform; one per rank or node")
      ->type_name("LOG");
  app.add_option("--samples", arguments->samples,
                 "also compare samples of gradway-probe with the platform's calibration")
      ->type_name("FILE");
  app.add_option("--max-lost", arguments->max_lost, "exit status 4 if a larger share of the time is lost")
      ->type_name("PERCENT");
  add_out(app, arguments->out, "diagnosis.html and diagnosis.json");
  app.add_flag("--json", arguments->json, "print the result as JSON")->disable_flag_override();
  return [arguments, &app](const CommandContext& context) {
    static_cast<void>(wants_files(app, arguments->out));
    return diagnose_traces(*arguments, context);
  };
}

}  // namespace gradway::cli
