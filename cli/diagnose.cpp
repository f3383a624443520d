// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <deque>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/calibrate.hpp"
#include "cli/commands.hpp"
#include "cli/hang.hpp"
#include "cli/import/nccl_log.hpp"
#include "cli/points/points.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/read_back.hpp"
#include "observe/calibration/calibration_check.hpp"
#include "observe/diagnose/diagnose.hpp"
#include "observe/diagnose/draft_scenario.hpp"
#include "observe/diagnose/report.hpp"
#include "observe/nccl_log/report.hpp"
#include "readers/fit/predictions.hpp"
#include "readers/hang/hang_evidence.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/kineto/read/communication.hpp"
#include "readers/kineto/read/read_trace.hpp"
#include "readers/nsys/nsys.hpp"
#include "readers/topology/gpu_name.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/config.hpp"
#include "sim/config/read/read.hpp"
#include "sim/scenario/lossy_steps.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

struct DiagnoseArguments {
  std::vector<std::string> traces;
  std::string scenario;
  std::vector<std::string> set;
  std::string platform;
  std::string elsewhere;
  std::string step_time;
  std::vector<std::string> nccl_logs;
  std::vector<std::string> samples;
  std::string out;
  std::string draft;
  bool force = false;
  std::optional<std::string> max_lost;
  int jobs = 0;
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
    const bool holds_all = gpus >= static_cast<std::size_t>(ranks);
    if (!best.empty() && (holds > holds_all || (holds == holds_all && gpus >= least))) continue;
    best = name;
    least = gpus;
    holds = holds_all;
  }
  return best;
}

int ranks_on(const std::string& platform, int ranks, const CommandContext& context) {
  const auto node = load_platform(platform, 1, context.data);
  const auto per_node = static_cast<int>(node.gpus.size()) / std::max(1, node.nodes);
  return (ranks + per_node - 1) / per_node * per_node;
}

/// @throws ConfigError if the platform has other GPUs than the job: every kernel and collective would be
/// compared with those of another GPU
void check_gpu(const DiagnosisBasis& basis, const JobRun& run, const CommandContext& context) {
  const auto names = list_names(DataKind::gpu, context.data);
  const auto& expected = basis.platform.gpu_models.front().name;
  for (const auto& rank : run.ranks) {
    const auto traced = gpu_file_name(rank.gpu);
    const bool is_known = std::ranges::find(names, traced) != names.end();
    if (rank.gpu.empty() || !is_known || traced == expected) continue;
    Where file;
    file.file = rank.file;
    const auto better = platform_with(traced, run.world, context);
    refuse_at(
        file,
        fmt::format("the trace is of {}, but platform '{}' has {}", traced, basis.platform_name, expected),
        better.empty() ? "name a platform with this GPU"
                       : fmt::format("leave it out, or name another one: {}", better));
  }
}

DiagnosisBasis basis_on(const std::string& platform, const JobRun& run, const CommandContext& context) {
  DiagnosisBasis basis;
  basis.platform_name = platform;
  basis.platform =
      load_platform(platform, ranks_on(platform, run.world, context), context.data, &basis.calibration);
  check_gpu(basis, run, context);
  return basis;
}

/// @throws ConfigError if the scenario is of other ranks or of another model than the traces
void check_job(const Scenario& scenario, const JobRun& run) {
  const auto& first = run.ranks.front();
  Where file;
  file.file = first.file;
  const auto hint = "give the scenario of the traced job, or leave it out";
  const bool is_world_known = run.world > 1 || run.collectives.empty();
  if (is_world_known && scenario.job.gpus != run.world)
    refuse_at(file,
              fmt::format("the traces are of a job of {} rank{}, but the scenario has {}", run.world,
                          run.world == 1 ? "" : "s", scenario.job.gpus),
              hint);
  double reduced = 0;  // bytes of gradients in a step
  for (const auto index : gradient_reductions(run, 0)) {
    const auto& reduction = run.collectives[index];
    if (reduction.kind == CollectiveKind::all_reduce && reduction.members.front().rank == 0)
      reduced += reduction.bytes;
  }
  const auto& strategy = scenario.job.strategy;
  const bool reduces_all = is_ddp(strategy) && hook_of(strategy) != CommHook::powersgd &&
                           scenario.job.layout.model_parallel_ranks() == 1;
  constexpr double least = 0.8 * 2;  // bytes of a parameter's gradient; a few parameters may have none
  constexpr double most = 1.2 * 4;
  const auto parameters = static_cast<double>(scenario.model.parameter_count());
  if (!reduces_all || reduced <= 0 || (reduced >= least * parameters && reduced <= most * parameters)) return;
  refuse_at(
      file,
      fmt::format("the traces reduce {:.4g} MB of gradients in a step, but the model of the scenario has "
                  "{:.4g} million parameters",
                  reduced / 1e6, parameters / 1e6),
      hint);
}

DiagnosisBasis basis_of(const DiagnoseArguments& arguments, const JobRun& run,
                        const CommandContext& context) {
  if (!arguments.scenario.empty()) {
    DiagnosisBasis basis;
    auto scenario = load_scenario(arguments.scenario, parse_overrides(arguments.set), context.data);
    const auto simulated = ask(scenario);
    basis.step =
        ExpectedStep{simulated.range.low, simulated.measured.metrics.step_time, simulated.range.high};
    basis.precision = scenario.job.precision;
    basis.platform_name = scenario.platform.name;
    basis.nccl = nccl_settings(scenario.job.nccl);
    basis.calibration = scenario.calibration;
    basis.platform = scenario.platform;
    check_gpu(basis, run, context);
    check_job(scenario, run);
    return basis;
  }
  if (!arguments.platform.empty()) return basis_on(arguments.platform, run, context);
  const auto& gpu = run.ranks.front().gpu;
  const auto platform = gpu.empty() ? "" : platform_with(gpu_file_name(gpu), run.world, context);
  if (platform.empty())
    refuse_at(Where{run.ranks.front().file, 0, 0, 0, {}},
              gpu.empty() ? "the trace does not name its GPU"
                          : fmt::format("no platform has the GPU of the trace, '{}'", gpu),
              "name a platform with --platform: gradway list platforms");
  auto basis = basis_on(platform, run, context);
  basis.is_platform_assumed = true;
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
                           check_nccl_log(log, basis.platform_name, context.data), style);
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

/// The folder of a scenario has one of its models.
std::filesystem::path model_of_draft(const std::filesystem::path& scenario) {
  return scenario.parent_path() / "models" / (scenario.stem().string() + "_model.yaml");
}

/// Writes the scenario that the traces describe, and the profile of their first rank as its model.
void write_draft(const DiagnoseArguments& arguments, const JobRun& run, const Diagnosis& diagnosis,
                 const std::string& platform, const CommandContext& context) {
  const std::filesystem::path out{arguments.draft};
  const auto model_file = model_of_draft(out);
  const auto& file = run.ranks.front().file;
  ImportOptions options;
  options.known_gpus = list_names(DataKind::gpu, context.data);
  const auto& first = run.ranks.front();
  if (!first.has_operations)
    refuse_at(Where{file, 0, 0, 0, {}}, "a scenario cannot be drafted without PyTorch's operations",
              "run the steps inside 'with torch.autograd.profiler.emit_nvtx(record_shapes=True):'");
  // The precision of an export follows from the names of its kernels.
  if (first.profiler == Profiler::nsys) options.precision = first.precision;
  auto trace = is_nsys_export(file) ? std::move(read_nsys(file, file).front()) : read_trace(file, file);
  const bool has_bucket_views = !has_operation(trace, "copy_bucket_to_grad");
  std::unordered_map<std::int64_t, std::int64_t> alone;
  for (std::size_t i = 0; i < run.alone.front().size(); ++i)
    alone.emplace(run.ranks.front().activities[i].start, std::llround(run.alone.front()[i]));
  auto imported =
      import_trace(without_communication(std::move(trace), alone), "trace of a rank", file, file, options);
  imported.profile.gap =
      from_nanoseconds(run.ranks.front().gap);  // Shorter kernels seem to leave longer gaps.
  const auto draft = draft_scenario(run, diagnosis, platform, model_file.stem().string(), imported.profile,
                                    has_bucket_views);
  const auto model = profile_yaml(imported.profile, imported.notes);
  const auto scenario = draft_yaml(draft, "scenario");
  check_scenario_reads_back(scenario, file, arguments.draft, context.data, model);
  write_with_model(out, scenario, model_file, model);
  for (const auto& written : {out, model_file})
    context.messages << fmt::format("wrote {}\n", printable(written.generic_string()));
}

/// What hanging jobs leave is no trace. @throws ConfigError for options that only traces have
std::optional<HangArguments> hang_arguments(const DiagnoseArguments& arguments) {
  const auto is_evidence = [](const std::string& path) { return is_hang_evidence(path); };
  if (std::ranges::none_of(arguments.traces, is_evidence)) return std::nullopt;
  const std::pair<std::string_view, bool> of_traces[] = {
      {"--scenario", !arguments.scenario.empty()}, {"--set", !arguments.set.empty()},
      {"--on", !arguments.elsewhere.empty()},      {"--step-time", !arguments.step_time.empty()},
      {"--samples", !arguments.samples.empty()},   {"--draft", !arguments.draft.empty()}};
  for (const auto& [option, is_given] : of_traces)
    if (is_given)
      refuse(fmt::format("'{}' needs traces, but '{}' is what a hanging job leaves", option,
                         printable(*std::ranges::find_if(arguments.traces, is_evidence))),
             "leave the option out, or give traces only");
  HangArguments hang{arguments.traces, arguments.platform, arguments.out, arguments.max_lost, arguments.json};
  hang.paths.insert(hang.paths.end(), arguments.nccl_logs.begin(), arguments.nccl_logs.end());
  return hang;
}

/// The traces of all processes in a file.
std::vector<Trace> traces_of(const std::string& file) {
  if (is_nsys_export(file)) return read_nsys(file, file);
  std::vector<Trace> traces;
  traces.push_back(read_trace(file, file));
  return traces;
}

/// @param jobs number of files to read at a time; 0: one per hardware thread
JobRun read_run(const std::vector<std::string>& files, int jobs) {
  KernelNames names;
  std::vector<RankRun> ranks;
  std::deque<std::future<std::vector<Trace>>> reading;
  auto next = files.begin();
  for (const auto& file : files) {
    while (next != files.end() && std::ssize(reading) < (jobs > 0 ? jobs : hardware_threads()))
      reading.push_back(std::async(std::launch::async, traces_of, *next++));
    for (auto& trace : reading.front().get()) {
      auto rank = rank_run(std::move(trace), file, names);
      check_new_rank(ranks, rank);  // Reading the others takes longer.
      ranks.push_back(std::move(rank));
    }
    reading.pop_front();
  }
  return job_run(std::move(ranks), std::move(names));
}

Status diagnose_traces(const DiagnoseArguments& arguments, const CommandContext& context) {
  if (arguments.scenario.empty() && !arguments.set.empty())
    refuse("'--set' changes a scenario, but none is given", "name it with --scenario");
  if (!arguments.draft.empty()) {
    check_yaml(arguments.draft, arguments.force, "scenarios");
    check_yaml(model_of_draft(arguments.draft), arguments.force, "models");
  }
  const auto most = percentage("--max-lost", arguments.max_lost);
  const auto step_time = value_of("--step-time", arguments.step_time, config::duration);
  for (const auto& platform : {arguments.platform, arguments.elsewhere})
    if (!platform.empty())
      static_cast<void>(load_platform(platform, 1, context.data));  // Reading traces takes longer.
  const auto run = read_run(arguments.traces, arguments.jobs);
  const auto basis = basis_of(arguments, run, context);
  const auto sections = sections_of(arguments, basis, context);
  std::optional<DiagnosisBasis> elsewhere;
  if (!arguments.elsewhere.empty()) {
    elsewhere = basis_on(arguments.elsewhere, run, context);
    elsewhere->nccl = basis.nccl;
  }
  const auto diagnosis = diagnose(run, basis, step_time, elsewhere ? &*elsewhere : nullptr);
  if (!arguments.draft.empty()) write_draft(arguments, run, diagnosis, basis.platform_name, context);
  if (arguments.json) {
    report::write_json(context.results, run, basis, diagnosis);
  } else {
    report::write_diagnosis(context.results, run, basis, diagnosis, context.style);
    for (const auto& section : sections) context.results << '\n' << section.title << "\n\n" << section.text;
  }
  if (!arguments.out.empty()) {
    write_named_files(
        arguments.out,
        {{"diagnosis.html",
          [&](std::ostream& out) { report::write_page(out, run, basis, diagnosis, sections); }},
         {"diagnosis.json", [&](std::ostream& out) { report::write_json(out, run, basis, diagnosis); }}},
        context);
  }
  return status_of_loss(diagnosis.lost_share(), most, context.messages);
}

}  // namespace

Action add_diagnose(CLI::App& app) {
  const auto arguments = std::make_shared<DiagnoseArguments>();
  app.add_option(
         "TRACE", arguments->traces,
         "traces of the PyTorch profiler, one per rank, or exports of Nsight Systems; of a job that "
         "hangs: folders or files with the flight recorder's dumps, RAS's answer, stacks, standard error")
      ->required();
  app.add_option("--scenario", arguments->scenario, "scenario of the run, to compare with its prediction");
  add_overrides(app, arguments->set);
  app.add_option("--platform", arguments->platform, "platform that the job ran on")->type_name("NAME");
  app.add_option("--on", arguments->elsewhere,
                 "also the step on another platform with this GPU, with its collectives by NCCL's model")
      ->type_name("NAME");
  app.add_option("--step-time", arguments->step_time, "step time measured without the profiler")
      ->type_name("TIME");
  app.add_option("--nccl-log", arguments->nccl_logs,
                 "also compare a log of NCCL_DEBUG=INFO with the platform; one per rank or node")
      ->type_name("LOG");
  app.add_option("--samples", arguments->samples,
                 "also compare samples of gradway-probe with the platform's calibration")
      ->type_name("FILE");
  add_max_lost(app, arguments->max_lost);
  app.add_option("--draft", arguments->draft,
                 "also write the scenario that the traces describe, and its model into models/ beside it")
      ->type_name("FILE");
  add_flag(app, "--force", arguments->force, "overwrite the files of --draft");
  add_out(app, arguments->out, "diagnosis.html and diagnosis.json");
  add_jobs(app, arguments->jobs, "traces to read");
  add_flag(app, "--json", arguments->json, "print the result as JSON");
  return [arguments, &app](const CommandContext& context) {
    static_cast<void>(wants_files(app, arguments->out));
    if (const auto hang = hang_arguments(*arguments)) return diagnose_hang(*hang, context);
    return diagnose_traces(*arguments, context);
  };
}

}  // namespace gradway::cli
