// SPDX-License-Identifier: Apache-2.0
#include "sim/run/fewer_micro_batches.hpp"

#include <algorithm>
#include <utility>

#include "sim/plan/plan.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

// Periods beside the micro-batches in flight: to see two that are equal, and for the CPU to gain its lead.
// One more is tried if that is not enough, then twice as many micro-batches as at first, and twice again.
constexpr int least_periods = 3;

/// A schedule between its ramps: micro-batches that are in flight at most, and those after which it repeats.
struct Rhythm {
  int in_flight = 0;
  int period = 1;
};

std::optional<Rhythm> rhythm_of(const Layout& layout) {
  const auto p = layout.pipeline;
  if (p == 1) return Rhythm{.in_flight = 1};
  switch (layout.schedule) {
    case Schedule::one_f_one_b:
    case Schedule::zb_h1:
      return Rhythm{.in_flight = p};
    case Schedule::interleaved:
      return Rhythm{.in_flight = p + (2 * p - 2) / layout.chunks, .period = p};
    case Schedule::zb_v:
    case Schedule::dual_pipe_v:
      return Rhythm{.in_flight = 2 * p};
    case Schedule::gpipe:
    case Schedule::looped_bfs:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Plans with another number of micro-batches.
template <class Plan>
auto with_micro_batches(Scenario& scenario, int micro_batches, const Plan& plan) {
  const auto original = std::exchange(scenario.job.accumulate, micro_batches);
  auto planned = plan();
  scenario.job.accumulate = original;
  return planned;
}

bool do_the_same(const Task& a, const Task& b) {
  return a.work == b.work && a.phase == b.phase && a.stream == b.stream && a.launch == b.launch &&
         a.launches == b.launches && a.host_waits == b.host_waits && a.begins_turn == b.begins_turn &&
         a.varies == b.varies;
}

/// Whether two tasks of a program do the same, and wait for the same tasks of their own period or for one
/// before all periods.
bool are_alike(const Task& before, const Task& after, std::size_t period) {
  const auto waits_alike = [&](TaskId a, TaskId b) { return a.index() + period == b.index() || a == b; };
  return do_the_same(before, after) && std::ranges::equal(before.after, after.after, waits_alike);
}

/// Whether a task waits for the same as one of a program with one more period. It may also wait for tasks of
/// that period, as for all reductions of a step: they have ended when a task after all periods begins.
bool waits_alike(const Task& task, const Task& of_longer, const RepeatedTasks& repeated) {
  std::vector<std::size_t> expected;
  for (const auto on : task.after)
    expected.push_back(on.index() < repeated.first ? on.index() : on.index() + repeated.period);
  std::vector<std::size_t> actual;
  for (const auto on : of_longer.after) {
    const bool is_of_first_period =
        on.index() >= repeated.first && on.index() < repeated.first + repeated.period;
    if (!is_of_first_period) actual.push_back(on.index());
  }
  return std::ranges::equal(expected, actual);
}

/// The longest part of a program in which each task is like the one a period before it.
RepeatedTasks repeated_tasks(const Program& program, std::size_t period, int left_out) {
  RepeatedTasks longest;
  const auto& tasks = program.tasks;
  for (auto i = period; i < tasks.size(); ++i) {
    const auto first = i;
    while (i < tasks.size() && are_alike(tasks[i - period], tasks[i], period)) ++i;
    if (i - first < longest.end - longest.first) continue;
    longest = {.first = first - period, .end = i, .period = period, .left_out = left_out};
  }
  const auto waits_within = [&](std::size_t i) {
    return std::ranges::any_of(tasks[i].after, [&](TaskId on) {
      const bool is_same_for_all = std::ranges::count(tasks[i - period].after, on) > 0;
      return is_same_for_all && on.index() >= longest.first;
    });
  };
  for (auto i = longest.first + period; i < longest.end; ++i)
    if (waits_within(i)) return {};
  return longest;
}

/// Whether the longer program is the other with one more period of what repeats.
bool has_one_more(const Program& longer, const Program& program) {
  const auto& [first, end, period, left_out] = program.repeated;
  if (longer.tasks.size() != program.tasks.size() + period) return false;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const auto& task = program.tasks[i];
    if (i < end && !are_alike(task, longer.tasks[i], 0)) return false;
    if (i + period < end) continue;
    const auto& later = longer.tasks[i + period];
    if (!do_the_same(task, later) || !waits_alike(task, later, program.repeated)) return false;
  }
  return true;
}

/// Notes what repeats in the programs of ranks. @param longer the same with one more period
bool mark_repeated(Workload& workload, const std::vector<Program>& longer, const FewerMicroBatches& fewer,
                   int micro_batches) {
  for (std::size_t i = 0; i < workload.programs_of_ranks(); ++i) {
    auto& program = workload.programs[i];
    if (longer[i].tasks.size() <= program.tasks.size()) return false;
    const auto period = longer[i].tasks.size() - program.tasks.size();
    program.repeated = repeated_tasks(program, period, fewer.left_out);
    const bool repeats = program.repeated.end - program.repeated.first >= 2 * period;
    if (!repeats || !has_one_more(longer[i], program)) return false;
    program.samples *= static_cast<double>(micro_batches) / fewer.simulated;
  }
  return true;
}

std::optional<Workload> marked(Workload workload, Scenario& scenario, const ComputeCosts& costs,
                               const FewerMicroBatches& fewer) {
  const auto longer = with_micro_batches(scenario, fewer.simulated + fewer.period,
                                         [&] { return programs_of_ranks(scenario, costs); });
  if (!mark_repeated(workload, longer, fewer, scenario.job.accumulate)) return std::nullopt;
  return workload;
}

}  // namespace

std::vector<FewerMicroBatches> fewer_micro_batches(const Job& job) {
  const auto rhythm = rhythm_of(job.layout);
  // GPUs that wait for a slow one let their CPUs gain a lead over hundreds of micro-batches.
  const bool waits_for_one = job.slow_gpu > 1 && job.layout.pipeline > 1;
  const bool may_repeat = rhythm && !waits_for_one && trains(job.strategy) && !job.input.dataset &&
                          job.input.background_copy == 0_B && !job.input.prefetch &&
                          job.cuda_graphs != CudaGraphs::step;
  std::vector<FewerMicroBatches> choices;
  if (!may_repeat) return choices;
  const auto first = rhythm->in_flight + least_periods * rhythm->period;
  for (int attempt = 0;; ++attempt) {
    const auto least = attempt < 2 ? first + attempt * rhythm->period : first << (attempt - 1);
    const auto left_out = (job.accumulate - least) / rhythm->period;
    const auto simulated = job.accumulate - left_out * rhythm->period;
    if (left_out < 1 || simulated > most_simulated * job.accumulate) return choices;
    choices.push_back({.simulated = simulated, .period = rhythm->period, .left_out = left_out});
  }
}

std::optional<Workload> plan_fewer(Scenario& scenario, const ComputeCosts& costs,
                                   const FewerMicroBatches& fewer) {
  auto workload = with_micro_batches(scenario, fewer.simulated, [&] { return plan(scenario, costs); });
  return marked(std::move(workload), scenario, costs, fewer);
}

std::optional<Workload> with_costs_of_fewer(Workload workload, Scenario& scenario, const ComputeCosts& costs,
                                            const FewerMicroBatches& fewer) {
  std::vector<RepeatedTasks> repeated;
  for (const auto& program : workload.programs) repeated.push_back(program.repeated);
  auto again = with_micro_batches(scenario, fewer.simulated,
                                  [&] { return with_costs(std::move(workload), scenario, costs); });
  for (std::size_t i = 0; i < again.programs_of_ranks(); ++i) {
    auto& program = again.programs[i];
    program.repeated = repeated_tasks(program, repeated[i].period, fewer.left_out);
    if (program.repeated != repeated[i]) return std::nullopt;
    program.samples *= static_cast<double>(scenario.job.accumulate) / fewer.simulated;
  }
  return again;
}

}  // namespace gradway
