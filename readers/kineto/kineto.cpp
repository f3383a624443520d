// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/kineto.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/kineto/memory/step_memory.hpp"
#include "readers/kineto/read/communication.hpp"
#include "readers/kineto/read/read_trace.hpp"
#include "readers/kineto/read/steps.hpp"
#include "readers/kineto/work/launch_work.hpp"
#include "readers/topology/gpu_name.hpp"
#include "sim/base/printable.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

DeviceLimits limits_of(const Trace& trace) {
  const auto limits = std::ranges::find(trace.limits, trace.devices.front(), &DeviceLimits::id);
  return limits == trace.limits.end() ? DeviceLimits{} : *limits;
}

/// The launches of a step, with times averaged over the steps.
std::vector<Launch> launches_of(const Trace& trace, const TracedStep& step, const AveragedSteps& averaged) {
  const auto limits = limits_of(trace);
  std::map<std::int64_t, int> streams{{main_stream(step.launches), 0}};
  std::vector<Launch> launches;
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const auto& traced = step.launches[i];
    const auto& activity = *traced.activity;
    Launch launch;
    launch.phase = traced.phase;
    launch.cpu = averaged.cpu[i];
    launch.gpu = averaged.gpu[i];
    launch.host_waits = averaged.host_waits[i];
    launch.blocks = activity.blocks;
    if (activity.kind == TracedActivity::Kind::kernel)
      launch.blocks_per_sm = blocks_per_multiprocessor(activity, limits);
    launch.stream = streams.emplace(activity.stream, static_cast<int>(streams.size())).first->second;
    launches.push_back(std::move(launch));
  }
  find_work(trace, step.launches, launches);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& traced = step.launches[i];
    if (traced.operation == nullptr || traced.activity->kind != TracedActivity::Kind::kernel) continue;
    launches[i].tiles =
        tiles_of(trace.names.text(traced.activity->name), trace.signatures[traced.operation->signature]);
  }
  return launches;
}

Bytes input_bytes(const Profile& profile) {
  Bytes sum{};
  for (const auto& launch : profile.launches) {
    if (launch.kind == KernelClass::copy_in) sum += launch.bytes;
  }
  return Bytes{std::round(sum.value() / profile.batch)};  // Files hold whole bytes.
}

int batch_of(const Trace& trace, const TracedStep& step, const ImportOptions& options, const Where& file) {
  if (options.batch) return *options.batch;
  const auto batch = find_batch(trace, step);
  if (!batch)
    refuse_at(file, "the batch size is not in the trace: it has no copy from the host",
              "give it with --batch N");
  return *batch;
}

/// Time of a step with all its micro-steps. @pre a step is complete
Seconds time_of_whole_step(std::span<const TracedStep> steps) {
  std::vector<std::string> ignored;
  const bool has_complete = std::ranges::any_of(steps, &TracedStep::is_complete);
  return has_complete ? average(steps, ignored).step_time : Seconds{};
}

/// Bounds for --step-time: the launches of one stream do not overlap, and the profiler slows the step down.
/// @param share of the step that the profile is; less than 1 with several micro-steps
void check_step_time(const ImportOptions& options, const Profile& profile, double share, const Where& file) {
  if (!options.step_time) return;
  constexpr double shortest = 0.9;  // Kernels take slightly longer under the profiler.
  constexpr double longest = 1.5;
  Seconds busy{};
  for (const auto& launch : profile.launches) {
    if (launch.stream == 0) busy += launch.gpu;
  }
  const auto milliseconds = [](Seconds time) { return fmt::format("{:.4g} ms", time.value() * 1e3); };
  const auto step_time = milliseconds(*options.step_time);
  constexpr const char* hint = "measure the same model, batch and precision without the profiler";
  busy = busy / share;
  const auto traced = profile.traced_step / share;
  if (*options.step_time < shortest * busy)
    refuse_at(file,
              fmt::format("--step-time {} is too short: the GPU works for {} of the step", step_time,
                          milliseconds(busy)),
              hint);
  if (*options.step_time > longest * traced)
    refuse_at(file,
              fmt::format("--step-time {} is too long: under the profiler, which slows it, the step takes {}",
                          step_time, milliseconds(traced)),
              hint);
}

void check_size(const TracedStep& step, const Where& file) {
  constexpr std::size_t most_launches = 30'000;  // As many as fit into a file that gradway reads.
  if (step.launches.size() > most_launches)
    refuse_at(file, fmt::format("a step has {} launches, more than {}", step.launches.size(), most_launches),
              "check that each step of the trace is one training step");
}

void check_known(const Trace& trace, const ImportOptions& options, const Where& file) {
  if (trace.has_shapes || (options.batch && options.parameters)) return;
  refuse_at(file, "the trace has no shapes of operands, by which batch and parameters are found",
            "record with record_shapes=True, or give --batch N and --parameters N: kernels are then known by "
            "their names only");
}

/// The optimizer of a rank that updates a part of the parameters, as it would update all of them.
void update_whole_parameters(Profile& profile, double shards) {
  for (auto& launch : profile.launches) {
    if (launch.phase != ProfiledPhase::optimizer || launch.kind != KernelClass::memory) continue;
    const auto fixed = std::min(launch.gpu, smallest_kernel);
    launch.gpu = fixed + (launch.gpu - fixed) * shards;
    launch.bytes = launch.bytes * shards;
  }
}

std::string words_for(const Communication& communication, const Trace& trace) {
  auto text = fmt::format(
      "the trace is of {}{}: its collectives are taken out, and the model is that of one GPU; set 'job.gpus' "
      "and 'strategy.kind: {}' in the scenario. Kernels that ran beside collectives may take longer than "
      "alone",
      communication.strategy.starts_with("fsdp") ? "FSDP" : "DDP",
      trace.ranks ? fmt::format(" on {} rank{}", *trace.ranks, *trace.ranks == 1 ? "" : "s") : "",
      communication.strategy.empty() ? "ddp" : communication.strategy);
  if (communication.has_exchange)
    text +=
        "; no strategy adds its all-to-alls of embeddings or experts, whose parameters are those of a rank";
  if (communication.shards == 0)
    text += "; it does not say how many ranks it has, so the optimizer updates the shard of one";
  return text;
}

void warn_of_cpu(const Profile& profile, std::vector<std::string>& warnings) {
  const auto cpu = cpu_time(profile);
  const auto gpu = gpu_time(profile);
  constexpr double near = 0.9;
  if (profile.step_time || cpu < near * gpu) return;
  warnings.push_back(fmt::format(
      "the CPU takes {:.3g} ms to issue a step that the GPU runs in {:.3g} ms: the profiler slows the CPU "
      "down, so the step may be too long; measure it without the profiler and give --step-time",
      cpu.value() * 1e3, gpu.value() * 1e3));
}

void warn_of_memory(const Profile& profile, std::vector<std::string>& warnings) {
  constexpr const char* hint = "record the trace with profile_memory=True to know whether a job fits";
  if (!profile.memory_lacks.empty()) {
    warnings.push_back(fmt::format("the memory that autograd keeps for {} is unknown; {}",
                                   fmt::join(profile.memory_lacks, ", "), hint));
  } else if (profile.memory_from == MemorySource::none) {
    warnings.push_back(fmt::format("the trace does not show what autograd keeps; {}", hint));
  } else if (profile.memory_from == MemorySource::compiled) {
    warnings.push_back(
        fmt::format("the memory that compiled graphs keep is estimated from the operands of their kernels, "
                    "which do not say what is written (error in eight programs: -8 % to +6 %); {}",
                    hint));
  }
}

void warn_of_streams(const Profile& profile, std::vector<std::string>& warnings) {
  const auto side_launches =
      std::ranges::count_if(profile.launches, [](const Launch& l) { return l.stream != 0; });
  if (side_launches > 0)
    warnings.push_back(
        fmt::format("launches of a step on streams other than the main stream: {}", side_launches));
}

/// Of a trace that is cut: a step is whole if each of its launches has its kernel.
void keep_whole_steps(const Trace& trace, std::vector<TracedStep>& steps, std::vector<Problem>& problems) {
  std::unordered_set<std::int64_t> run;
  for (const auto& activity : trace.activities) run.insert(activity.correlation);
  for (auto& step : steps)
    step.is_complete = step.is_complete && std::ranges::all_of(trace.calls, [&](const ApiCall& call) {
                         return call.start < step.begin || call.start >= step.end ||
                                run.contains(call.correlation) ||
                                trace.names.text(call.name).find("LaunchKernel") == std::string::npos;
                       });
  if (problems.empty() && std::ranges::any_of(steps, &TracedStep::is_complete)) return;
  problems = {{*trace.cut,
               "the file is cut here, before the end of the first whole step",
               {},
               "copy it again, or record it again"}};
}

}  // namespace

Seconds gpu_time(const Profile& profile) {
  Seconds sum{};
  for (const auto& launch : profile.launches) sum += launch.gpu;
  return sum;
}

Seconds cpu_time(const Profile& profile) {
  Seconds sum{};
  for (const auto& launch : profile.launches) sum += launch.cpu;
  return sum;
}

ImportedProfile import_kineto(const std::filesystem::path& path, const std::string& shown,
                              const ImportOptions& options) {
  auto trace = read_trace(path, shown, true);
  const auto accumulate_grad = time_to_accumulate(trace);
  const auto communication = communication_of(trace);
  std::string taken_out;
  if (communication.can_be_removed()) {
    taken_out = words_for(communication, trace);
    trace = without_communication(std::move(trace), {});
  } else if (!communication.divides.empty()) {
    trace.distributed = "'" + communication.divides + "'";
  }
  auto result = import_trace(std::move(trace), "PyTorch profiler trace", path, shown, options);
  if (communication.shards > 1)
    update_whole_parameters(result.profile, static_cast<double>(communication.shards));
  if (!taken_out.empty()) result.warnings.push_back(std::move(taken_out));
  result.profile.accumulate_grad = accumulate_grad;
  return result;
}

ImportedProfile import_trace(Trace trace, std::string_view kind, const std::filesystem::path& path,
                             const std::string& shown, const ImportOptions& options) {
  Where file;
  file.file = shown;
  auto problems = check_trace(trace, file);
  count_overlaps_once(trace);
  auto joined = join_launches(trace);
  measure_cpu_time(trace, joined.launches);
  auto steps =
      problems.empty() ? find_steps(trace, joined.launches, file, problems) : std::vector<TracedStep>{};
  if (trace.cut) keep_whole_steps(trace, steps, problems);
  const auto whole_step = problems.empty() ? time_of_whole_step(steps) : Seconds{};
  steps = micro_steps(trace, std::move(steps), file, problems);
  if (!problems.empty()) throw ConfigError{std::move(problems)};
  check_known(trace, options, file);

  ImportedProfile result;
  if (trace.cut)
    result.warnings.push_back(
        fmt::format("the file is cut in line {}, in the middle of an event: the model is what comes before",
                    trace.cut->line));
  auto& profile = result.profile;
  profile.gpu = gpu_name(limits_of(trace).name, options.gpu, options.known_gpus, file, "the trace");
  result.steps_found = static_cast<int>(std::ranges::count_if(steps, &TracedStep::is_complete));
  const auto averaged = average(steps, result.warnings);
  const auto& step = steps[averaged.representative()];
  check_size(step, file);
  profile.steps = static_cast<int>(averaged.used.size());
  profile.traced_step = averaged.step_time;
  profile.step_time = options.step_time;
  // The measured step has all micro-steps; the profile is the last of them, with the optimizer.
  const double share = step.passes > 1 ? averaged.step_time / whole_step : 1;
  if (step.passes > 1) {
    if (profile.step_time) profile.step_time = *profile.step_time * share;
    result.warnings.push_back(fmt::format(
        "{} forward and backward passes come before one step of the optimizer: the model is the last "
        "of them with the optimizer; set 'job.accumulate: {}' in the scenario",
        step.passes, step.passes));
  }
  profile.gap = averaged.gap;
  profile.launches = launches_of(trace, step, averaged);
  profile.gradients = find_gradients(trace, step, std::llround(options.parameters.value_or(0)));
  if (profile.gradients.empty())
    refuse_at(file, "the trace has no gradient of a parameter",
              "record it again, and whole: its file lacks operations of the backward pass");
  profile.buffers = find_buffers(trace, step);
  profile.batch = batch_of(trace, step, options, file);
  profile.precision = options.precision.value_or(main_precision(profile.launches));
  profile.optimizer = find_optimizer(trace, step, result.warnings);
  find_growth(trace, step, profile, profile.launches);
  // Gradients are new in the first micro-step.
  const auto first_pass = averaged.representative() -
                          std::min(averaged.representative(), static_cast<std::size_t>(step.passes - 1));
  auto memory = trace.has_shapes || !trace.allocations.empty()
                    ? memory_of_step(trace, steps, first_pass, profile)
                    : TracedMemory{};
  profile.memory_from = memory.from;
  profile.memory = std::move(memory.moments);
  profile.memory_lacks = std::move(memory.unknown_operations);
  profile.keeps_gradients = keeps_gradients(trace, steps);
  warn_of_memory(profile, result.warnings);
  check_step_time(options, profile, share, file);
  result.notes.input_per_sample = input_bytes(profile);
  result.notes.source = fmt::format("{} {}, {} step{}", kind, printable(path.filename().string()),
                                    profile.steps, profile.steps == 1 ? "" : "s");
  if (joined.orphans > 0)
    result.warnings.push_back(
        fmt::format("ignored GPU activities whose launches are not in the trace: {}", joined.orphans));
  warn_of_streams(profile, result.warnings);
  warn_of_cpu(profile, result.warnings);
  return result;
}

}  // namespace gradway
