// SPDX-License-Identifier: Apache-2.0
#include "sim/run/steady_state.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/base/memory_limit.hpp"
#include "sim/base/problem.hpp"
#include "sim/engine/engine.hpp"
#include "sim/metrics/ops_of_steps.hpp"

namespace gradway {
namespace {

// If nothing repeats within these, the mean of the later half is off by about 1 % of a step.
constexpr int many_steps = 200;
constexpr int some_steps = 16;
constexpr int most_steps_that_vary = 1600;   // of loaders, and of neighbours that come and go
constexpr std::size_t many_ops = 2'000'000;  // half a second in an engine
/// Peak memory of an op with its edges, its dates and the engine's state; measured: 138 to 180 bytes.
constexpr Bytes bytes_of_op{160};

/// A CPU that may be ahead by many steps takes several times as many to get there.
bool is_long_enough(const SteadyRun& run) {
  const auto steps = run.workload.steps;
  const auto ahead = run.workload.after_reported;
  const bool is_large = run.lowered.ops.size() >= many_ops;
  return steps >= std::max(many_steps, 16 * ahead) || (is_large && steps >= std::max(some_steps, 4 * ahead));
}

/// Steps with random numbers, or with loader workers that finish in varying order, settle slowly.
bool may_take_longer(const SteadyRun& run) {
  return (run.workload.varies() || run.workload.turns() > 1) && run.workload.steps < most_steps_that_vary;
}

/// Steps that drift a little are accepted once the CPU had some steps to gain its lead.
std::optional<StepWindow> repeating_window(const SteadyRun& run) {
  const auto& [workload, engine, lowered, timeline, is_from_cache, window] = run;
  if (workload.varies()) return std::nullopt;
  const auto exact = repeating_steps(workload, lowered.ops, timeline);
  const bool may_drift = workload.steps >= some_steps + 2 * workload.after_reported;
  return exact || !may_drift ? exact : repeating_steps(workload, lowered.ops, timeline, Drift::small);
}

/// Of a neighbour's traffic that comes and goes; zero if there is none.
Seconds longest_period(const OpGraph& ops) {
  Seconds longest{};
  for (std::size_t i = 0; i < first_op_of(0, ops); ++i) longest = std::max(longest, ops.ops()[i].period);
  return longest;
}

/// Whether not even the last run would be long enough for two periods, if all its steps were as long as the
/// longest one so far. All traffic must have slowed a whole step by then.
bool is_too_long(Seconds period, const SteadyRun& run, int most_steps) {
  const auto& ops = run.lowered.ops;
  Seconds begin{};
  for (std::size_t i = 0; i < first_op_of(0, ops); ++i) begin = std::max(begin, ops.ops()[i].latency);
  const auto windows = step_windows(run.workload, ops, run.timeline);
  Seconds longest{};
  for (const auto& window : windows) longest = std::max(longest, window.each());
  return windows.back().to >= begin + 2 * longest && period > longest * most_steps / 2;
}

[[noreturn]] void fail_to_cover_period(int steps, Seconds period) {
  throw SimulationError{fmt::format(
      "{} steps, the most that are simulated, do not cover two periods of {:.4g} s of a neighbour's traffic "
      "evenly; set a shorter traffic.period, or run the job with and without the traffic and weigh the two "
      "steps",
      steps, period.value())};
}

[[noreturn]] void fail_to_settle(const SteadyRun& run) {
  throw SimulationError{
      fmt::format("the {} simulated steps do not settle: they keep getting longer or shorter; "
                  "simulate more steps (steps: {})",
                  run.workload.steps, 4 * run.workload.steps)};
}

std::string gigabytes(Bytes size) {
  const auto amount = size.value() / 1e9;
  return amount < 10 ? fmt::format("{:.2g}", amount) : fmt::format("{:.0f}", amount);
}

/// Refuses many steps before they take all memory. A step's ops are counted by lowering one.
/// @throws SimulationError
void check_memory(const Workload& workload, const std::function<Lowered(const Workload&)>& lowered) {
  const auto steps = workload.steps;
  if (steps <= some_steps) return;
  auto single_step = workload;
  single_step.steps = 1;
  const auto of_step = static_cast<double>(lowered(single_step).ops.size()) * bytes_of_op;
  const auto most = memory_limit();
  if (of_step * steps <= most) return;
  throw SimulationError{fmt::format(
      "{} steps take about {} GB of memory, and there are {} GB; simulate fewer steps (steps: {})", steps,
      gigabytes(of_step * steps), gigabytes(most), std::max(1, static_cast<int>(most / of_step / 2)))};
}

}  // namespace

void keep(TimelineCache* cache, const Platform& platform, SteadyRun& run) {
  if (!cache || run.timeline.end.empty()) return;
  cache->keep(run.engine, platform, std::exchange(run.lowered.ops, {}), std::exchange(run.timeline, {}));
}

SteadyRun run_to_steady_state(Workload workload, const Platform& platform, std::string_view engine,
                              const std::function<Lowered(const Workload&)>& lowered,
                              const ProgressCallback& on_progress, TimelineCache* cache) {
  SteadyRun run;
  run.workload = std::move(workload);
  const auto least_steps = run.workload.steps;
  if (run.workload.may_repeat_early) run.workload.steps = 2;
  for (;; run.workload.steps = run.workload.steps < least_steps ? least_steps : 2 * run.workload.steps) {
    check_memory(run.workload, lowered);
    keep(cache, platform, run);
    run.lowered = lowered(run.workload);
    const auto& ops = run.lowered.ops;
    const auto chosen = choose_engine(engine);
    run.engine = chosen.name;
    auto known = cache ? cache->take(run.engine, platform, ops) : std::nullopt;
    run.is_from_cache = known.has_value();
    if (!known) report_progress(on_progress, "simulating");
    run.timeline = known ? *std::move(known) : chosen.engine->run_with_progress(platform, ops, on_progress);
    const auto period = run.workload.whole_epoch ? Seconds{} : longest_period(ops);
    if (period > Seconds{}) {
      const auto window = periodic_steps(run.workload, ops, run.timeline, period);
      auto most_steps = run.workload.steps;
      while (most_steps < most_steps_that_vary) most_steps *= 2;
      if (!window && (most_steps == run.workload.steps || is_too_long(period, run, most_steps)))
        fail_to_cover_period(most_steps, period);
      if (!window) continue;
      run.window = *window;
      return run;
    }
    if (run.workload.starts_steady) {
      run.window = step_windows(run.workload, ops, run.timeline).back();
      return run;
    }
    if (run.workload.whole_epoch) {
      run.window = epoch_window(run.workload, ops, run.timeline);
      return run;
    }
    const bool is_early = run.workload.steps < least_steps;
    auto window = is_early ? repeating_second_step(run.workload, ops, run.timeline) : repeating_window(run);
    if (!window && !is_early && is_long_enough(run)) {
      window = stable_steps(run.workload, ops, run.timeline);
      if (!window && !may_take_longer(run)) fail_to_settle(run);
    }
    if (!window) continue;
    run.window = *window;
    return run;
  }
}

}  // namespace gradway
