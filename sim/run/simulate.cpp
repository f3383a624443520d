// SPDX-License-Identifier: Apache-2.0
#include "sim/run/simulate.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/make_warning.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/lower/nccl_memory.hpp"
#include "sim/metrics/measure.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/fewer_micro_batches.hpp"
#include "sim/run/network_cores.hpp"
#include "sim/run/repetition.hpp"
#include "sim/run/simulate_within.hpp"
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
  add(provenance.warnings, make_warning<"alternating-steps", "shortest", "longest", "steps">(
                               shortest.value() * 1e3, longest.value() * 1e3, run.window.steps));
}

/// Mean idle time and exposed communication of all ranks over their kernel time. Waits for launches do not
/// count. @param longest_wait the part of each wait that counts
WaitRatio waiting_of(const SteadyRun& run, Seconds longest_wait) {
  Seconds busy{}, communication{}, idle{};
  const auto counts = idle_fractions(run.workload, run.lowered, run.timeline, run.window, longest_wait);
  std::size_t i = 0;
  for (const auto& program : measure_programs(run.workload, run.lowered, run.timeline, run.window)) {
    const auto& times = program.parts;
    busy += (times.compute + times.optimizer) * program.ranks;
    communication += times.exposed_communication * program.ranks * counts[i];
    idle += (times.input_wait + times.idle) * program.ranks * counts[i];
    ++i;
  }
  if (busy <= Seconds{}) return {};
  return {.idle = idle / busy, .communication = communication / busy};
}

/// Costs at the clocks of GPUs that wait as those of the run do, as far as the power limit lowers the clocks.
/// Empty if the clocks are the same to a small tolerance, by which kernels are then too slow at most.
std::optional<ComputeCosts> costs_of_waiting(const Scenario& scenario, const ComputeCosts& costs,
                                             const SteadyRun& run) {
  constexpr double noticeable = 1.0001;
  if (costs.slowdown <= 1) return std::nullopt;
  const auto waiting = waiting_of(run, costs.longest_wait);
  if (waiting == WaitRatio{}) return std::nullopt;
  auto costs_with_waiting = compute_costs(scenario, waiting);
  if (costs.slowdown < costs_with_waiting.slowdown * noticeable) return std::nullopt;
  return costs_with_waiting;
}

/// Notes what repeats in the reported step. @return whether the step is known from its fewer micro-batches
bool note_repetition(SteadyRun& run) {
  if (run.window.steps > 1) return false;
  const auto repeated = find_repetition(run.workload, run.lowered, run.timeline, run.window.step);
  if (repeated) run.window.repeated = *repeated;
  return repeated.has_value();
}

// A step is given up only if it is beyond its limit by this share. Steps may drift by 0.01 % (see
// run_to_steady_state), and work that takes longer may meet less other work, which gained 0.014 % at most in
// random scenarios (tests/robustness/laws, FASTER).
constexpr double certainty = 1e-3;

/// Memory of the GPU that needs most, with NCCL's buffers.
MemoryUse memory_of_fullest(const Workload& workload, const Communicators& communicators,
                            const Platform& platform) {
  const auto nccl = nccl_memory(workload, communicators, platform);
  MemoryUse fullest;
  for (std::size_t i = 0; i < workload.programs_of_ranks(); ++i) {
    auto memory = workload.programs[i].memory;
    memory.nccl = nccl[i];
    if (i == 0 || memory.needed() > fullest.needed()) fullest = memory;
  }
  return fullest;
}

/// Nothing if the memory is within the limit.
std::optional<BeyondLimits> beyond(MemoryLimit limit, const Scenario& scenario, const MemoryUse& memory) {
  if (limit == MemoryLimit::none) return std::nullopt;
  if (!fits(scenario, memory)) return BeyondLimits{.needs = memory.needed()};
  if (limit == MemoryLimit::surely_fits && !surely_fits(scenario, memory)) return BeyondLimits{};
  return std::nullopt;
}

/// A step in its steady state, and what it was simulated with.
struct SimulatedStep {
  ComputeCosts costs;
  Communicators communicators;
  SteadyRun run;
  double network_cores = 0;  ///< that the network takes from loaders
};

/// The step does not repeat with fewer micro-batches.
struct NoRepetition {
  bool was_simulated = true;  ///< else the tasks of a program do not repeat
};
using StepOutcome = std::variant<SimulatedStep, NoRepetition, BeyondLimits>;

/// How steps are simulated.
struct StepOptions {
  std::string_view engine;
  FoldRanks fold;
  StepLimits limits;
  const ProgressCallback& on_progress;
  TimelineCache* cache = nullptr;
  bool is_checked = true;  ///< one of hundreds that a search simulates costs a tenth less without
};

/// Checks the timeline against the laws of its graph, and amounts against capacities.
void check_timeline(const SteadyRun& run, const Platform& platform, const StepOptions& options) {
  if (!options.is_checked || run.is_from_cache) return;
  report_progress(options.on_progress, "checking and measuring");
  check(run.timeline, run.lowered.ops);
  check_amounts(run.timeline, run.lowered.ops, platform);
}

/// Simulates steps with all their micro-batches, or with fewer that stand for all.
/// @param fewer null: all
StepOutcome simulated_step(Scenario& scenario, ComputeCosts costs, const FewerMicroBatches* fewer,
                           const StepOptions& options) {
  const auto& [engine, fold, limits, on_progress, cache, _] = options;
  auto workload = fewer ? plan_fewer(scenario, costs, *fewer) : plan(scenario, costs);
  if (!workload) return NoRepetition{.was_simulated = false};
  report_progress(on_progress, "mapping collectives to links");
  check(*workload);
  Communicators communicators{*workload, scenario};
  const auto fullest = memory_of_fullest(*workload, communicators, scenario.platform);
  if (const auto too_much = beyond(limits.memory, scenario, fullest)) return *too_much;
  report_progress(on_progress, "folding ranks");
  const auto lowering_plan = make_lowering_plan(*workload, scenario, communicators, fold);
  const auto lowered = [&](const Workload& steps) {
    return lower(steps, scenario.platform, communicators, lowering_plan);
  };
  const auto settle = [&](Workload to_settle) {
    return run_to_steady_state(std::move(to_settle), scenario.platform, engine, lowered, on_progress, cache);
  };
  auto run = settle(std::move(*workload));
  const auto repeats = [&] {
    if (!fewer || note_repetition(run)) return true;
    keep(cache, scenario.platform, run);
    return false;
  };
  if (!repeats()) return NoRepetition{};
  if (auto at_their_clocks = costs_of_waiting(scenario, costs, run)) {
    report_progress(on_progress, "repeating at the clocks of waiting GPUs");
    const auto slowest = std::exchange(costs, std::move(*at_their_clocks)).slowdown;
    const auto at_least = run.window.each() * (costs.slowdown / slowest);
    if (at_least > limits.time * (1 + certainty)) return BeyondLimits{};
    workload = fewer ? with_costs_of_fewer(std::move(run.workload), scenario, costs, *fewer)
                     : with_costs(std::move(run.workload), scenario, costs);
    if (!workload) return NoRepetition{};
    keep(cache, scenario.platform, run);
    run = {};
    run = settle(std::move(*workload));
    if (!repeats()) return NoRepetition{};
  }
  double network_cores = 0;
  if (const auto network = network_core_time(scenario.platform, run); network > Seconds{}) {
    const auto metrics = measure(scenario, run.workload, run.lowered, run.timeline, run.window).metrics;
    if (metrics.loading && metrics.loading->cores_busy) {
      if (fewer) return NoRepetition{};
      report_progress(on_progress, "repeating with the cores that the network leaves");
      keep(cache, scenario.platform, run);
      network_cores =
          share_cores_with_network(scenario.platform, *metrics.loading, metrics.step_time, network);
      auto again = std::move(run.workload);
      run = {};
      run = settle(std::move(again));
    }
  }
  check_timeline(run, scenario.platform, options);
  return SimulatedStep{std::move(costs), std::move(communicators), std::move(run), network_cores};
}

StepOutcome simulated_step(Scenario& scenario, FoldMicroBatches micro_batches, const StepOptions& options) {
  report_progress(options.on_progress, "planning the step");
  const auto costs = compute_costs(scenario);
  if (micro_batches == FoldMicroBatches::yes && options.fold == FoldRanks::yes) {
    int simulated = 0;
    for (const auto& fewer : fewer_micro_batches(scenario.job)) {
      if (simulated + fewer.simulated > most_simulated * scenario.job.accumulate) break;
      auto step = simulated_step(scenario, costs, &fewer, options);
      const auto* repeats_not = std::get_if<NoRepetition>(&step);
      if (repeats_not == nullptr) return step;
      if (repeats_not->was_simulated) simulated += fewer.simulated;
    }
  }
  return simulated_step(scenario, costs, nullptr, options);
}

/// Warns of variables of NCCL without which the step has the same operations, and NCCL the same buffers.
void add_nccl_warnings(const Scenario& scenario, const SimulatedStep& step, FoldRanks fold,
                       Provenance& provenance) {
  const auto& run = step.run;
  const auto& platform = scenario.platform;
  for (const auto& [name, value] : scenario.job.nccl) {
    if (!is_modelled(name)) continue;
    auto without = scenario;
    without.job.nccl.erase(name);
    const Communicators communicators{run.workload, without};
    if (nccl_memory(run.workload, communicators, platform) !=
        nccl_memory(run.workload, step.communicators, platform))
      continue;
    const auto lowering_plan = make_lowering_plan(run.workload, without, communicators, fold);
    if (lower(run.workload, platform, communicators, lowering_plan).ops == run.lowered.ops)
      add(provenance.warnings, make_warning<"nccl-variable-without-effect", "name", "value">(name, value));
  }
}

/// Measures a step and adds what the prediction is based on.
/// @param scenario that `step` refers to; moved into the result
Run finished(Scenario&& scenario, SimulatedStep step, FoldRanks fold) {
  auto& [costs, communicators, run, network_cores] = step;
  auto measured = measure(scenario, run.workload, run.lowered, run.timeline, run.window);
  if (auto& loading = measured.metrics.loading; loading && network_cores > 0) {
    loading->network_cores = network_cores;
    if (auto* loader = std::get_if<bottleneck::Loader>(&measured.bottleneck))
      loader->network_cores = network_cores;
  }
  auto provenance = provenance_of(scenario, costs, communicators, run.lowered.provenance, measured.memory);
  add_step_warning(run, provenance);
  add_nccl_warnings(scenario, step, fold, provenance);
  const auto range = step_range(measured.metrics, provenance.step_basis);
  auto errors = possible_errors(scenario, costs, measured.metrics, provenance.step_basis);
  Run result;
  result.scenario = std::move(scenario);
  result.engine = std::move(run.engine);
  result.workload = std::move(run.workload);
  result.ops = std::move(run.lowered.ops);
  result.folding = std::move(run.lowered.folding);
  result.timeline = std::move(run.timeline);
  result.window = run.window;
  result.measured = std::move(measured);
  result.range = range;
  result.step_basis = provenance.step_basis;
  result.errors = std::move(errors);
  result.basis = std::move(provenance.basis);
  result.warnings = std::move(provenance.warnings);
  return result;
}

}  // namespace

Run simulate(Scenario scenario, std::string_view engine, FoldRanks fold, const ProgressCallback& on_progress,
             FoldMicroBatches micro_batches, TimelineCache* cache) {
  auto step = simulated_step(scenario, micro_batches, {engine, fold, {}, on_progress, cache});
  return finished(std::move(scenario), std::get<SimulatedStep>(std::move(step)), fold);
}

void keep(TimelineCache& cache, Run&& run) {
  cache.keep(run.engine, run.scenario.platform, std::move(run.ops), std::move(run.timeline));
}

std::variant<Run, BeyondLimits> simulate_within(const StepLimits& limits, Scenario scenario,
                                                std::string_view engine) {
  auto step =
      simulated_step(scenario, FoldMicroBatches::yes, {engine, FoldRanks::yes, limits, {}, nullptr, false});
  if (const auto* beyond = std::get_if<BeyondLimits>(&step)) return *beyond;
  return finished(std::move(scenario), std::get<SimulatedStep>(std::move(step)), FoldRanks::yes);
}

}  // namespace gradway
