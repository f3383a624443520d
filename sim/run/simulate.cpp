// SPDX-License-Identifier: Apache-2.0
#include "sim/run/simulate.hpp"

#include <algorithm>
#include <utility>

#include "sim/metrics/measure.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/network_cores.hpp"
#include "sim/run/steady_state.hpp"
#include "sim/trust/provenance.hpp"

namespace gradway {
namespace {

/// Warns if the reported step is the mean of steps of different length.
void add_step_warning(const SteadyRun& run, Provenance& provenance) {
  if (run.window.steps == 1) return;
  auto shortest = Seconds::infinite();
  Seconds longest{};
  for (const auto& step : step_windows(run.workload, run.lowered.ops, run.timeline)) {
    if (!run.window.has(step.step)) continue;
    shortest = std::min(shortest, step.each());
    longest = std::max(longest, step.each());
  }
  constexpr double noticeable = 1.005;
  if (longest < shortest * noticeable) return;
  add(provenance.warnings, warning::AlternatingSteps{shortest, longest, run.window.steps});
}

/// Mean idle time and exposed communication of all ranks over their kernel time. Waits for launches do not
/// count. @param longest_wait the part of each wait that counts
WaitRatio waiting_of(const SteadyRun& run, Seconds longest_wait) {
  Seconds busy{}, communication{}, idle{};
  const auto counts = idle_fractions(run.workload, run.lowered, run.timeline, run.window, longest_wait);
  std::size_t i = 0;
  for (const auto& program : measure_programs(run.workload, run.lowered, run.timeline, run.window)) {
    const auto& parts = program.parts;
    busy += (parts.compute + parts.optimizer) * program.ranks;
    communication += parts.exposed_communication * program.ranks * counts[i];
    idle += (parts.input_wait + parts.idle) * program.ranks * counts[i];
    ++i;
  }
  if (busy <= Seconds{}) return {};
  return {.idle = idle / busy, .communication = communication / busy};
}

}  // namespace

Run simulate(Scenario scenario, std::string_view engine, FoldRanks fold,
             const ProgressCallback& on_progress) {
  report_progress(on_progress, "planning the step");
  auto costs = compute_costs(scenario);
  auto workload = plan(scenario, costs);
  report_progress(on_progress, "mapping collectives to links");
  check(workload);
  const Communicators communicators{workload, scenario};
  report_progress(on_progress, "folding ranks");
  const auto lowering_plan = make_lowering_plan(workload, scenario, communicators, fold);
  const auto lowered = [&](const Workload& steps) {
    return lower(steps, scenario.platform, communicators, lowering_plan);
  };
  auto run = run_to_steady_state(std::move(workload), scenario.platform, engine, lowered, on_progress);
  if (const auto waiting = costs.slowdown > 1 ? waiting_of(run, costs.longest_wait) : WaitRatio{};
      waiting != WaitRatio{}) {
    report_progress(on_progress, "repeating at the clocks of waiting GPUs");
    costs = compute_costs(scenario, waiting);
    workload = with_costs(std::move(run.workload), scenario, costs);
    run = {};
    run = run_to_steady_state(std::move(workload), scenario.platform, engine, lowered, on_progress);
  }
  auto measured = measure(scenario, run.workload, run.lowered, run.timeline, run.window);
  if (const auto network = network_core_time(scenario.platform, run);
      network > Seconds{} && measured.metrics.loading && measured.metrics.loading->cores_busy) {
    report_progress(on_progress, "repeating with the cores that the network leaves");
    const auto taken = share_cores_with_network(scenario.platform, *measured.metrics.loading,
                                                measured.metrics.step_time, network);
    workload = std::move(run.workload);
    run = {};
    run = run_to_steady_state(std::move(workload), scenario.platform, engine, lowered, on_progress);
    measured = measure(scenario, run.workload, run.lowered, run.timeline, run.window);
    measured.metrics.loading->network_cores = taken;
    if (auto* loader = std::get_if<bottleneck::Loader>(&measured.bottleneck)) loader->network_cores = taken;
  }
  auto provenance = provenance_of(scenario, costs, communicators, run.lowered.provenance, measured.memory);
  add_step_warning(run, provenance);
  const auto range = step_range(measured.metrics, provenance.step_basis);
  auto errors = possible_errors(scenario, costs, measured.metrics, provenance.step_basis);
  return {.scenario = std::move(scenario),
          .engine = std::move(run.engine),
          .workload = std::move(run.workload),
          .ops = std::move(run.lowered.ops),
          .folding = std::move(run.lowered.folding),
          .timeline = std::move(run.timeline),
          .window = run.window,
          .measured = std::move(measured),
          .range = range,
          .step_basis = provenance.step_basis,
          .errors = std::move(errors),
          .basis = std::move(provenance.basis),
          .warnings = std::move(provenance.warnings)};
}

}  // namespace gradway
