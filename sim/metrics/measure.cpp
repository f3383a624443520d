// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/measure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/metrics/intervals.hpp"
#include "sim/metrics/loading.hpp"
#include "sim/metrics/ops_of_steps.hpp"
#include "sim/metrics/utilisation.hpp"
#include "sim/metrics/view.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/plan/memory.hpp"
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway {
namespace {

// Activity at a moment of the step, by precedence; `kinds`: none. Collectives by purpose.
enum Kind { optimizer, compute, collective, input = collective + purpose_words.size(), launch, kinds };

/// Kind of an op; `kinds` if it does not count. @pre the program sees it
int kind_of(const Op& op, const View& view) {
  const auto& origin = op.origin;
  switch (origin.activity) {
    case Activity::kernel:
      return origin.phase == Phase::optimizer ? optimizer : compute;
    case Activity::collective:
      return collective + static_cast<int>(view.purpose_of(origin));
    case Activity::copy:  // nothing waits for a background copy
      if (origin.phase == Phase::communication) return collective;
      return view.program().is_background_copy(view.program().tasks[static_cast<std::size_t>(origin.task)])
                 ? kinds
                 : input;
    case Activity::load:
      return input;
    case Activity::launch:
      return launch;
    case Activity::marker:
      return kinds;
  }
  return kinds;
}

/// Ops that are under way between two dates.
std::vector<std::size_t> ops_within(Seconds from, Seconds to, const OpGraph& ops, const Timeline& timeline) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (timeline.end[i] > from && timeline.start[i] < to) indices.push_back(i);
  return indices;
}

/// By program of the ranks: the view of its first actor.
std::vector<View> views_of(const Workload& workload, const Folding& folding) {
  std::vector<View> views;
  for (std::size_t i = 0; i < workload.programs_of_ranks(); ++i)
    views.emplace_back(workload, folding, ProgramId{i});
  return views;
}

/// A window of steps. What repeats in it counts as often as it happens.
struct Observed {
  const StepWindow& window;
  const OpGraph& ops;
  const Timeline& timeline;

  /// By view: its ops of the window.
  std::vector<std::vector<std::size_t>> seen(const std::vector<View>& views) const {
    return seen_by(views, ops, ops_within(window.from, window.to, ops, timeline));
  }
  /// How often an op that starts at this date happens.
  int times(Seconds start) const { return 1 + (window.repeated.has(start) ? window.repeated.left_out : 0); }
};

/// Adds the parts of a program between two dates, multiplied by a number of repetitions.
/// @param seen its ops of the window
void add_parts(StepParts& parts, const View& view, const std::vector<std::size_t>& seen,
               const Observed& observed, Seconds from, Seconds to, int times) {
  const auto& [window, ops, timeline] = observed;
  const auto mean = [&, steps = window.steps](Seconds time) { return time * times / steps; };
  std::vector<Interval> intervals;
  intervals.reserve(seen.size());
  std::vector<Interval> collectives;
  for (const auto i : seen) {
    if (timeline.end[i] <= from || timeline.start[i] >= to) continue;
    if (ends_take(ops, i, view.program())) intervals.push_back({timeline.end[i - 1], timeline.end[i], input});
    const auto kind = kind_of(ops.op(OpId{i}), view);
    if (kind == kinds) continue;
    intervals.push_back({timeline.start[i], timeline.end[i], kind});
    if (kind >= collective && kind < input) collectives.push_back(intervals.back());
  }
  const auto time = split_time(intervals, kinds, from, to);
  parts.optimizer += mean(time[optimizer]);
  parts.compute += mean(time[compute]);
  for (std::size_t purpose = 0; purpose < parts.exposed.size(); ++purpose) {
    const auto exposed = mean(time[collective + purpose]);
    parts.exposed[purpose] += exposed;
    parts.exposed_communication += exposed;
  }
  parts.input_wait += mean(time[input]);
  parts.launch_bound += mean(time[launch]);
  parts.idle += mean(time[kinds]);
  parts.communication += mean(covered(collectives, from, to));
}

/// Mean parts of a program's steps.
StepParts split_step(const View& view, const std::vector<std::size_t>& seen, const Observed& observed) {
  const auto& window = observed.window;
  const auto& repeated = window.repeated;
  StepParts parts;
  add_parts(parts, view, seen, observed, window.from, window.to, 1);
  if (repeated.left_out > 0)
    add_parts(parts, view, seen, observed, repeated.from, repeated.to, repeated.left_out);
  return parts;
}

/// Counts the collectives that an actor of the program calls in a step, and the bytes that it sends.
void count_calls(Metrics& metrics, const Workload& workload, ProgramId program) {
  const auto actor = std::ranges::find(workload.actors, program, &Actor::program);
  const auto& definition = workload.programs[program.index()];
  for (std::size_t i = 0; i < definition.tasks.size(); ++i) {
    const auto* call = std::get_if<Call>(&definition.tasks[i].work);
    if (!call) continue;
    const auto group = actor->groups[call->group.index];
    const auto ranks = static_cast<int>(workload.groups[group.index()].members.size());
    metrics.collectives += definition.times(i);
    metrics.bytes_sent_per_gpu += bus_factor(call->kind, ranks) * call->bytes * definition.times(i);
  }
}

void count_work(Metrics& metrics, const Scenario& scenario, const Workload& workload, ProgramId program) {
  count_calls(metrics, workload, program);
  const auto& definition = workload.programs[program.index()];
  for (std::size_t i = 0; i < definition.tasks.size(); ++i)
    metrics.issue +=
        definition.tasks[i].launch * definition.times(i) / scenario.platform.speeds[HardwarePart::cpu];
  if (!trains(scenario.job.strategy)) metrics.bus_bandwidth = metrics.bytes_sent_per_gpu / metrics.step_time;
  metrics.steps_per_s = 1 / metrics.step_time.value();
  for (const auto& actor : workload.actors)
    metrics.samples += workload.programs[actor.program.index()].samples;
  // Ranks that hold parts of a model each count a part of its samples.
  if (const auto rounded = std::round(metrics.samples); std::abs(metrics.samples - rounded) < 1e-6 * rounded)
    metrics.samples = rounded;
  metrics.samples_per_s = metrics.samples * metrics.steps_per_s;
  if (const auto tokens = scenario.model.tokens_per_sample; tokens > 0) {
    metrics.tokens_per_sample = tokens;
    metrics.tokens_per_s = tokens * metrics.samples_per_s;
  }
  const auto flops = model_flops_per_sample(scenario.model) * (metrics.samples / workload.ranks);
  if (flops == Flops{}) return;
  const auto rate = flops / metrics.step_time;
  metrics.tflops_per_gpu = rate.value() / 1e12;
  metrics.mfu = utilisation(rate, scenario);
}

void add_cost(Metrics& metrics, const Scenario& scenario) {
  if (metrics.loading)
    metrics.loading->usd_per_million_samples =
        storage_usd_per_million_samples(scenario.job.input, metrics.samples_per_s);
  if (!scenario.platform.price) return;
  const auto& platform = scenario.platform;
  const auto nodes = node_count(platform, scenario.job.gpus);
  const auto is_there = [&](DeviceId gpu) { return platform.device(gpu).node < nodes; };
  const auto there = static_cast<int>(std::ranges::count_if(platform.gpus, is_there));
  metrics.cost_per_hour = platform.price->of(scenario.job.gpus, nodes, there / nodes);
  if (!platform.price->by_gpu) metrics.idle_gpus = there - scenario.job.gpus;
  metrics.cost_usd_per_million_samples = metrics.cost_per_hour->value() / 3600 / metrics.samples_per_s * 1e6;
  if (metrics.loading && metrics.loading->usd_per_million_samples)
    *metrics.cost_usd_per_million_samples += metrics.loading->usd_per_million_samples->sum();
}

/// Total latency of a program's calls. Flows of one call have theirs at the same time.
Seconds latency_of_collectives(const StepWindow& window, const View& view, const OpGraph& ops,
                               const Timeline& timeline) {
  std::map<std::pair<std::uint16_t, std::int32_t>, Seconds> longest;  // by program and task of the call
  const Observed observed{window, ops, timeline};
  const auto end_of_step = first_op_of(window.step + 1, ops);
  for (auto i = first_op_of(window.step, ops); i < end_of_step; ++i) {
    const auto& op = ops.op(OpId{i});
    const auto& origin = op.origin;
    if (origin.activity != Activity::collective || !view.sees(origin)) continue;
    auto& latency = longest[{origin.program, origin.task}];
    latency = std::max(latency, op.latency * observed.times(timeline.start[i]));
  }
  Seconds sum{};
  for (const auto& [task, latency] : longest) sum += latency;
  return sum;
}

/// The ranks and the memory of each program, NCCL's buffers included.
std::vector<MeasuredProgram> measured_programs(const Workload& workload, const std::vector<Bytes>& nccl) {
  std::vector<MeasuredProgram> measured;
  for (std::size_t i = 0; i < workload.programs_of_ranks(); ++i) {
    const auto& program = workload.programs[i];
    auto& entry = measured.emplace_back();
    entry.name = program.name;
    entry.memory = program.memory;
    entry.memory.nccl = nccl[i];
  }
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(workload.ranks); ++rank)
    ++measured[workload.actors[rank].program.index()].ranks;
  return measured;
}

/// The program whose work ends the step; among several, that of the lowest rank.
ProgramId last_program(const Workload& workload, const StepWindow& window, const OpGraph& ops,
                       const Timeline& timeline) {
  std::vector<Seconds> ends(workload.programs.size());
  const auto end_of_step = first_op_of(window.step + 1, ops);
  for (auto i = first_op_of(window.step, ops); i < end_of_step; ++i) {
    const auto& origin = ops.op(OpId{i}).origin;
    if (origin.actor == Origin::none || origin.actor >= workload.ranks) continue;
    auto& end = ends[origin.program];
    end = std::max(end, timeline.end[i]);
  }
  auto last = workload.actors.front().program;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(workload.ranks); ++rank) {
    const auto program = workload.actors[rank].program;
    if (ends[program.index()] > ends[last.index()]) last = program;
  }
  return last;
}

}  // namespace

std::vector<MeasuredProgram> measure_programs(const Workload& workload, const Lowered& lowered,
                                              const Timeline& timeline, const StepWindow& window) {
  const Observed observed{window, lowered.ops, timeline};
  auto measured = measured_programs(workload, lowered.nccl);
  const auto views = views_of(workload, lowered.folding);
  const auto seen = observed.seen(views);
  for (std::size_t i = 0; i < measured.size(); ++i)
    measured[i].parts = split_step(views[i], seen[i], observed);
  return measured;
}

std::vector<double> idle_fractions(const Workload& workload, const Lowered& lowered, const Timeline& timeline,
                                   const StepWindow& window, Seconds at_most) {
  const Observed observed{window, lowered.ops, timeline};
  std::vector<double> shares;
  const auto views = views_of(workload, lowered.folding);
  const auto seen = observed.seen(views);
  for (std::size_t i = 0; i < views.size(); ++i) {
    std::vector<Interval> kernels;
    for (const auto op : seen[i]) {
      const auto kind = kind_of(lowered.ops.op(OpId{op}), views[i]);
      if (kind == optimizer || kind == compute) kernels.push_back({timeline.start[op], timeline.end[op], 0});
    }
    std::ranges::sort(kernels, {}, &Interval::start);
    Seconds total{};
    Seconds counted{};
    auto busy_until = window.from;
    const auto wait_until = [&](Seconds next) {
      if (next <= busy_until) return;
      total += (next - busy_until) * observed.times(next);
      counted += std::min(next - busy_until, at_most) * observed.times(next);
    };
    for (const auto& kernel : kernels) {
      wait_until(kernel.start);
      busy_until = std::max(busy_until, kernel.end);
    }
    wait_until(window.to);
    shares.push_back(total > Seconds{} ? counted / total : 1);
  }
  return shares;
}

Measured measure(const Scenario& scenario, const Workload& workload, const Lowered& lowered,
                 const Timeline& timeline, const StepWindow& window) {
  Measured measured;
  auto& metrics = measured.metrics;
  measured.by_program = measure_programs(workload, lowered, timeline, window);
  measured.program = last_program(workload, window, lowered.ops, timeline);
  const View headline{workload, lowered.folding, measured.program};
  static_cast<StepParts&>(metrics) = measured.by_program[measured.program.index()].parts;
  metrics.step_time = window.each();
  if (metrics.step_time > Seconds{})
    metrics.gpu_busy_fraction = (metrics.compute + metrics.optimizer) / metrics.step_time;
  metrics.is_of_parts = scenario.job.layout.is_model_parallel();
  if (scenario.job.layout.pipeline > 1) {
    Seconds idle{};
    for (const auto& program : measured.by_program) idle += program.parts.idle;
    metrics.bubble = idle / static_cast<double>(measured.by_program.size());
  }
  metrics.loading = measure_loading(workload, scenario.platform, lowered, timeline, window);
  count_work(metrics, scenario, workload, measured.program);
  if (metrics.loading) add_epoch(metrics, scenario.job.input, workload, window);
  add_cost(metrics, scenario);
  measured.memory = std::ranges::max_element(measured.by_program, {}, [](const MeasuredProgram& program) {
                      return program.memory.needed();
                    })->memory;
  measured.metrics.peak_memory = measured.memory.allocated();
  auto uses = use_of_resources(window, scenario.platform, lowered, timeline);
  std::optional<NcclUse> nccl;
  if (lowered.limit) nccl = {*lowered.limit, latency_of_collectives(window, headline, lowered.ops, timeline)};
  const auto saved = shares_saved_by_half(lowered.ops, timeline, window);
  measured.bottleneck = find_bottleneck(scenario, measured.metrics, saved, uses.links, nccl);
  if (uses.links.size() > most_links_listed) {
    for (std::size_t i = most_links_listed; i < uses.links.size(); ++i)
      measured.links_left_out += 1 + uses.links[i].alike;
    uses.links.resize(most_links_listed);
  }
  measured.links = std::move(uses.links);
  measured.carried = std::move(uses.carried);
  return measured;
}

}  // namespace gradway
