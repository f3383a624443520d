// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/measure.hpp"

#include <algorithm>
#include <numeric>

#include "sim/cost/nccl_model.hpp"
#include "sim/lower/rank_order.hpp"
#include "sim/metrics/bottleneck.hpp"
#include "sim/metrics/intervals.hpp"
#include "sim/metrics/memory.hpp"
#include "sim/metrics/resource_uses.hpp"

namespace gradway {
namespace {

// What fills a moment of the step, the most important first; the last is what is left.
enum Kind { optimizer, compute, collective, input, launch, kinds };

/// Kind of an op on rank 0, or `kinds` if it does not count.
Kind kind_of(const Op& op, const WorkloadGraph& workload) {
  const auto& origin = op.origin;
  if (origin.rank > 0 || origin.task == Origin::none) return kinds;
  switch (origin.activity) {
    case Activity::kernel:
      return origin.phase == Phase::optimizer ? optimizer : compute;
    case Activity::collective:
      return collective;
    case Activity::copy:  // a background copy is nobody's wait
      return workload.tasks[static_cast<std::size_t>(origin.task)].stream == Stream::own ? kinds : input;
    case Activity::launch:
      return launch;
    case Activity::marker:
      return kinds;
  }
  return kinds;
}

void split_step(Metrics& metrics, const StepWindow& window, const WorkloadGraph& workload, const OpGraph& ops,
                const Timeline& timeline) {
  std::vector<Interval> all;
  std::vector<Interval> collectives;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto kind = kind_of(ops.op(OpId{i}), workload);
    if (kind == kinds) continue;
    all.push_back({timeline.start[i], timeline.end[i], kind});
    if (kind == collective) collectives.push_back(all.back());
  }
  const auto time = split_time(all, kinds, window.from, window.to);
  metrics.step_time = window.each();
  metrics.optimizer = time[optimizer] / window.steps;
  metrics.compute = time[compute] / window.steps;
  metrics.exposed_communication = time[collective] / window.steps;
  metrics.input_wait = time[input] / window.steps;
  metrics.launch_bound = time[launch] / window.steps;
  metrics.idle = time[kinds] / window.steps;
  metrics.communication = covered(collectives, window.from, window.to) / window.steps;
  if (metrics.step_time > Seconds{}) {
    metrics.gpu_busy_fraction = (metrics.compute + metrics.optimizer) / metrics.step_time;
  }
}

void count_work(Metrics& metrics, const Scenario& scenario, const WorkloadGraph& workload) {
  for (const auto& task : workload.tasks) {
    if (task.kind != TaskKind::collective) continue;
    ++metrics.collectives;
    metrics.bytes_sent_per_gpu += bus_factor(task.collective, workload.ranks) * task.bytes;
  }
  Flops work{};
  for (const auto& layer : scenario.model.layers) {
    work += layer.forward.flops_per_sample + layer.backward.flops_per_sample;
  }
  if (const auto& profile = scenario.model.profile) {
    for (const auto& launch : profile->launches) work += launch.flops / profile->batch;
  }
  const double samples = static_cast<double>(scenario.job.batch_per_gpu) * scenario.job.accumulate;
  if (work > Flops{}) metrics.tflops_per_gpu = (work * samples / metrics.step_time).value() / 1e12;
  if (scenario.job.strategy.kind == StrategyKind::collective)
    metrics.bus_bandwidth = metrics.bytes_sent_per_gpu / metrics.step_time;
  metrics.steps_per_s = 1 / metrics.step_time.value();
  metrics.samples_per_s = samples * workload.ranks * metrics.steps_per_s;
}

void add_cost(Metrics& metrics, const Scenario& scenario) {
  if (!scenario.platform.price) return;
  metrics.cost_per_hour =
      scenario.platform.price->per_node * node_count(scenario.platform, scenario.job.gpus);
  metrics.cost_usd_per_million_samples = metrics.cost_per_hour->value() / 3600 / metrics.samples_per_s * 1e6;
}

/// Flows of one call pay theirs side by side.
Seconds latency_of_collectives(const StepWindow& window, const WorkloadGraph& workload, const OpGraph& ops) {
  std::vector<Seconds> longest(workload.tasks.size());
  for (const auto& op : ops.ops()) {
    if (op.origin.activity != Activity::collective || op.origin.step != window.step) continue;
    auto& latency = longest[static_cast<std::size_t>(op.origin.task)];
    latency = std::max(latency, op.latency);
  }
  return std::accumulate(longest.begin(), longest.end(), Seconds{});
}

}  // namespace

Measured measure(const Scenario& scenario, const WorkloadGraph& workload, const Lowered& lowered,
                 const Timeline& timeline, const StepWindow& window) {
  Measured measured;
  split_step(measured.metrics, window, workload, lowered.ops, timeline);
  count_work(measured.metrics, scenario, workload);
  add_cost(measured.metrics, scenario);
  measured.memory = memory_use(scenario, lowered.channels);
  measured.metrics.peak_memory = measured.memory.allocated();
  auto uses = use_of_resources(window, scenario.platform, lowered);
  std::optional<NcclUse> nccl;
  if (lowered.limit) nccl = {*lowered.limit, latency_of_collectives(window, workload, lowered.ops)};
  measured.bottleneck = find_bottleneck(scenario, measured.metrics, uses.links, nccl);
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
