// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/rank_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "observe/diagnose/rank_program.hpp"
#include "readers/kineto/read/merged_spans.hpp"
#include "readers/kineto/read/read_trace.hpp"
#include "readers/kineto/read/steps.hpp"
#include "readers/kineto/work/launch_work.hpp"
#include "readers/kineto/work/operation_work.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/base/text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

bool is_norm(std::string_view operation, std::string_view kernel) {
  const bool is_gradient_norm = contains(operation, "vector_norm") || contains(operation, "foreach_norm");
  return !is_gradient_norm &&
         (contains(operation, "norm") || contains(kernel, "_norm") || contains(kernel, "Norm"));
}

WorkClass work_class(const Launch& launch, bool is_kernel, std::string_view operation,
                     std::string_view kernel) {
  if (launch.kind == KernelClass::copy_in) return WorkClass::copy_in;
  if (launch.kind == KernelClass::copy_out) return WorkClass::copy_out;
  if (is_kernel && is_collective(kernel)) return WorkClass::collective;
  if (launch.phase == ProfiledPhase::optimizer) return WorkClass::optimizer;
  if (launch.kind == KernelClass::matrix) return WorkClass::matrix;
  if (launch.kind == KernelClass::attention) return WorkClass::attention;
  return is_norm(operation, kernel) ? WorkClass::normalization : WorkClass::elementwise;
}

class Reducer {
 public:
  Reducer(const Trace& trace, RankRun& run, KernelNames& names) : trace_{trace}, run_{run}, names_{names} {
    for (const auto& collective : trace.collectives)
      collectives_.emplace(collective.correlation, &collective);
  }

  void add_step(const TracedStep& step) {
    const auto number = static_cast<std::int32_t>(run_.steps.size());
    std::vector<Launch> launches(step.launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      launches[i].phase = step.launches[i].phase;
      launches[i].gpu = Seconds{static_cast<double>(step.launches[i].activity->duration) / 1e9};
    }
    find_work(trace_, step.launches, launches);
    for (std::size_t i = 0; i < launches.size(); ++i) add(step.launches[i], launches[i], number);
    run_.steps.push_back({step.begin, step.end, {}});
  }

 private:
  void add(const TracedLaunch& traced, const Launch& launch, std::int32_t step) {
    const auto& activity = *traced.activity;
    const auto& kernel = trace_.names.text(activity.name);
    const std::string_view operation = traced.operation == nullptr
                                           ? std::string_view{}
                                           : trace_.signatures[traced.operation->signature].name;
    const bool is_kernel = activity.kind == TracedActivity::Kind::kernel;
    RunActivity added{.start = activity.start,
                      .duration = activity.duration,
                      .bytes = activity.bytes,
                      .flops = launch.flops.value(),
                      .traffic = launch.bytes.value()};
    key_.clear();
    fmt::format_to(std::back_inserter(key_), "{}|{}|{}", kernel, activity.blocks, activity.threads);
    added.kernel = names_.kernels.id(key_);
    added.operation = names_.operations.id(operation);
    added.stream =
        streams_.emplace(activity.stream, static_cast<std::int32_t>(streams_.size())).first->second;
    added.step = step;
    added.blocks = static_cast<std::int32_t>(std::min<std::int64_t>(activity.blocks, 1 << 30));
    added.phase = launch.phase;
    added.work = work_class(launch, is_kernel, operation, kernel);
    const bool is_product = added.work == WorkClass::matrix || added.work == WorkClass::attention;
    // Exports of Nsight Systems have shapes without types. Products whose kernel names no type are of 16
    // bits.
    const bool has_types = trace_.has_shapes && trace_.profiler == Profiler::pytorch;
    added.precision =
        !has_types && is_product ? precision_by_name(kernel).value_or(Precision::bf16) : launch.precision;
    added.reads_fp32 =
        !is_product && (has_types ? launch.precision : precision_by_name(kernel)) == Precision::fp32;
    added.is_pageable = is_copy(added.work) && contains(kernel, "Pageable");
    if (added.work == WorkClass::collective) add_collective(activity, kernel, added);
    run_.activities.push_back(added);
    run_.streams = static_cast<int>(streams_.size());
  }

  void add_collective(const TracedActivity& activity, const std::string& kernel, RunActivity& added) {
    RunCollective collective{.activity = static_cast<std::int32_t>(run_.activities.size()),
                             .kind = collective_kind(kernel),
                             .group = "",
                             .channels = added.blocks};
    if (const auto entry = collectives_.find(activity.correlation); entry != collectives_.end()) {
      const auto& recorded = *entry->second;
      const auto& members = trace_.names.text(recorded.members);
      collective.kind = collective_kind(trace_.names.text(recorded.name));
      collective.group = trace_.names.text(recorded.group) + " " + members;
      collective.bytes = static_cast<double>(recorded.elements) *
                         std::max(1, element_bytes(trace_.names.text(recorded.element_type)));
      collective.ranks = static_cast<std::int32_t>(recorded.ranks);
    }
    added.collective = static_cast<std::int32_t>(run_.collectives.size());
    run_.collectives.push_back(std::move(collective));
  }

  const Trace& trace_;
  RankRun& run_;
  KernelNames& names_;
  std::unordered_map<std::int64_t, const TracedCollective*> collectives_;
  std::map<std::int64_t, std::int32_t> streams_;
  std::string key_;
};

/// The precision in which products spend most of their time.
Precision precision_of(const RankRun& run) {
  std::array<std::int64_t, precision_count> time{};
  for (const auto& activity : run.activities) {
    if (activity.work == WorkClass::matrix || activity.work == WorkClass::attention)
      time[static_cast<std::size_t>(activity.precision)] += activity.duration;
  }
  return static_cast<Precision>(std::ranges::max_element(time) - time.begin());
}

void find_main_stream(RankRun& run) {
  std::map<int, std::int64_t> busy;
  for (const auto& activity : run.activities) {
    if (activity.work != WorkClass::collective) busy[activity.stream] += activity.duration;
  }
  const auto most = std::ranges::max_element(busy, {}, [](const auto& stream) { return stream.second; });
  run.main_stream = most == busy.end() ? 0 : most->first;
}

/// The starts of all activities of a trace by stream, in order.
std::map<std::int64_t, std::vector<std::int64_t>> starts_by_stream(const Trace& trace) {
  std::map<std::int64_t, std::vector<std::int64_t>> starts;
  for (const auto& activity : trace.activities) starts[activity.stream].push_back(activity.start);
  for (auto& [stream, of_stream] : starts) std::ranges::sort(of_stream);
  return starts;
}

/// Gaps between kernels of a stream that were launched well before the earlier one ended. Where a trace was
/// cut, kernels without a launch may fill a gap. In one that work of other streams fills, the kernel may have
/// waited for that: not every profiler records for what.
void measure_gap(const Trace& trace, const std::vector<const TracedLaunch*>& launches, RankRun& run) {
  const auto starts = starts_by_stream(trace);
  const MergedSpans working{{trace.activities.begin(), trace.activities.end()}};
  constexpr std::int64_t well_ahead = 20'000;
  constexpr double shortest_interruption = 50'000;
  std::map<std::int32_t, const RunActivity*> last;
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    auto& activity = run.activities[i];
    if (activity.work == WorkClass::collective) continue;
    const auto*& before = last[activity.stream];
    const auto& of_stream = starts.at(launches[i]->activity->stream);
    const auto next =
        before == nullptr ? of_stream.end() : std::ranges::upper_bound(of_stream, before->start);
    const bool is_next = next != of_stream.end() && *next == activity.start;
    if (is_next && launches[i]->call->end() + well_ahead < before->end()) {
      const Span gap{before->end(), std::max<std::int64_t>(0, activity.start - before->end())};
      gaps.push_back(gap.duration);
      activity.interruption = working.cover(gap) ? 0 : static_cast<double>(gap.duration);
    }
    before = &activity;
  }
  run.gap = static_cast<double>(lower_median(gaps));
  for (auto& activity : run.activities) {
    const auto excess = activity.interruption - run.gap;
    activity.interruption = excess > shortest_interruption ? excess : 0;
  }
  run.launches_queued =
      static_cast<double>(gaps.size()) / static_cast<double>(std::max<std::size_t>(1, launches.size()));
}

/// The profiler's steps, for programs whose optimizer is not torch.optim's.
std::vector<TracedStep> marked_steps(const Trace& trace, std::vector<TracedLaunch>& launches) {
  std::vector<TracedStep> steps;
  for (const auto& mark : trace.profiler_steps) {
    const auto start = [](const TracedLaunch& launch) { return launch.call->start; };
    const auto first = std::ranges::lower_bound(launches, mark.start, {}, start);
    const auto last = std::ranges::lower_bound(launches, mark.end(), {}, start);
    if (first != last) steps.push_back({mark.start, mark.end(), {first, last}, true});
  }
  std::ranges::sort(steps, {}, &TracedStep::begin);
  return steps;
}

void check_contents(const Trace& trace, const Where& file) {
  const bool needs_operations = trace.profiler == Profiler::pytorch;
  if (!needs_operations && trace.optimizer_steps.empty() && trace.profiler_steps.empty())
    refuse_at(file, "no NVTX range marks the training steps",
              "run each step inside 'with torch.cuda.nvtx.range(\"step\"):', or all of them inside "
              "'with torch.autograd.profiler.emit_nvtx():'");
  if ((needs_operations && trace.operations.empty()) || trace.activities.empty())
    refuse_at(file,
              trace.operations.empty() ? "the trace has no CPU operations" : "the trace has no GPU activity",
              "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (trace.devices.size() > 1 || trace.processes.size() > 1)
    refuse_at(file,
              trace.devices.size() > 1
                  ? fmt::format("the trace has {} GPUs", trace.devices.size())
                  : fmt::format("the trace has {} processes that use the GPU", trace.processes.size()),
              "give the trace of each rank as a file of its own");
}

/// What Nsight Systems' export does not say.
void add_unknown(const Trace& trace, RankRun& run) {
  if (trace.profiler == Profiler::pytorch) return;
  const auto add = [&](const char* text) { run.unknown.emplace_back(text); };
  if (!run.has_operations)
    add("PyTorch's operations (emit_nvtx() records them): phases, buckets, batches of unequal size and slow "
        "operations are not looked for");
  if (run.has_operations && !trace.has_shapes)
    add("shapes (emit_nvtx(record_shapes=True) records them): batches of unequal size are not looked for");
  add(run.has_operations
          ? "the overhead of Nsight Systems, taken to be that of PyTorch's profiler: give --step-time"
          : "the overhead of Nsight Systems, taken to be none: give --step-time");
  if (run.collectives.empty()) return;
  if (!run.is_rank_known)
    add("ranks and process groups (NCCL's NVTX ranges say them, exported with --include-blobs=true): ranks "
        "are numbered as given, and all are taken to be in one group");
  const bool has_sizes =
      std::ranges::any_of(run.collectives, [](const auto& collective) { return collective.bytes > 0; });
  if (!has_sizes) add("sizes of collectives: they are not compared with NCCL's model");
}

}  // namespace

RankRun rank_run(Trace trace, const std::string& shown, KernelNames& names) {
  Where file;
  file.file = shown;
  check_contents(trace, file);
  count_overlaps_once(trace);
  auto joined = join_launches(trace);
  measure_cpu_time(trace, joined.launches);
  std::vector<Problem> problems;
  auto steps = find_steps(trace, joined.launches, file, problems);
  if (std::ranges::none_of(steps, &TracedStep::is_complete)) steps = marked_steps(trace, joined.launches);
  if (steps.empty()) throw ConfigError{std::move(problems)};

  RankRun run;
  run.file = shown;
  run.rank = static_cast<int>(trace.rank.value_or(0));
  run.ranks = static_cast<int>(trace.ranks.value_or(1));
  run.profiler = trace.profiler;
  run.is_rank_known = trace.profiler == Profiler::pytorch || trace.rank.has_value();
  run.has_operations = !trace.operations.empty();
  if (!trace.limits.empty()) {
    const auto limit = std::ranges::find(trace.limits, trace.devices.front(), &DeviceLimits::id);
    const auto& limits = limit == trace.limits.end() ? trace.limits.front() : *limit;
    run.gpu = limits.name;
    run.capability = limits.capability;
  }
  Reducer reducer{trace, run, names};
  std::vector<const TracedLaunch*> launches;
  for (const auto& step : steps) {
    if (!step.is_complete) continue;
    if (run.steps.empty()) {
      run.batch = find_batch(trace, step).value_or(0);
      std::vector<std::string> doubts;
      if (!trace.optimizer_steps.empty()) run.optimizer = find_optimizer(trace, step, doubts);
    }
    reducer.add_step(step);
    for (const auto& launch : step.launches) launches.push_back(&launch);
  }
  run.precision = precision_of(run);
  find_main_stream(run);
  measure_gap(trace, launches, run);
  add_program(trace, launches, names, run);
  add_unknown(trace, run);
  return run;
}

}  // namespace gradway
