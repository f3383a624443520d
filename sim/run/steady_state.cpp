// SPDX-License-Identifier: Apache-2.0
#include "sim/run/steady_state.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/engine/engine.hpp"

namespace gradway {
namespace {

// If nothing repeats within these, the mean of the later half is off by about 1 % of a step.
constexpr int many_steps = 200;
constexpr int some_steps = 16;
constexpr int most_steps_that_vary = 1600;   // of loaders, and of neighbours that come and go
constexpr std::size_t many_ops = 2'000'000;  // half a second in an engine

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

/// Of a neighbour's traffic that comes and goes; zero if there is none.
Seconds longest_period(const OpGraph& ops) {
  Seconds longest{};
  for (const auto& op : ops.ops()) longest = std::max(longest, op.period);
  return longest;
}

[[noreturn]] void fail_to_cover_period(const SteadyRun& run, Seconds period) {
  throw SimulationError{fmt::format(
      "the {} simulated steps do not cover two periods of {:.4g} s of a neighbour's traffic evenly; "
      "set a shorter traffic.period, or run the job with and without the traffic and weigh the "
      "two steps",
      run.workload.steps, period.value())};
}

[[noreturn]] void fail_to_settle(const SteadyRun& run) {
  throw SimulationError{
      fmt::format("the {} simulated steps do not settle: they keep getting longer or shorter; "
                  "simulate more steps (steps: {})",
                  run.workload.steps, 4 * run.workload.steps)};
}

}  // namespace

SteadyRun run_to_steady_state(Workload workload, const Platform& platform, std::string_view engine,
                              const std::function<Lowered(const Workload&)>& lowered,
                              const ProgressCallback& on_progress) {
  SteadyRun run;
  run.workload = std::move(workload);
  for (;; run.workload.steps *= 2) {
    run.lowered = lowered(run.workload);
    const auto& ops = run.lowered.ops;
    const auto chosen = choose_engine(engine);
    run.engine = chosen.name;
    report_progress(on_progress, "simulating");
    run.timeline = chosen.engine->run_with_progress(platform, ops, on_progress);
    report_progress(on_progress, "checking and measuring");
    check(run.timeline, ops);
    check_amounts(run.timeline, ops, platform);
    const auto period = run.workload.whole_epoch ? Seconds{} : longest_period(ops);
    if (period > Seconds{}) {
      const auto window = periodic_steps(run.workload, ops, run.timeline, period);
      if (!window && run.workload.steps >= most_steps_that_vary) fail_to_cover_period(run, period);
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
    auto window = run.workload.varies() ? std::nullopt : repeating_steps(run.workload, ops, run.timeline);
    if (!window && is_long_enough(run)) {
      window = stable_steps(run.workload, ops, run.timeline);
      if (!window && !may_take_longer(run)) fail_to_settle(run);
    }
    if (!window) continue;
    run.window = *window;
    return run;
  }
}

}  // namespace gradway
