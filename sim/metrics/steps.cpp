// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/steps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "sim/metrics/loading.hpp"
#include "sim/metrics/ops_of_steps.hpp"

namespace gradway {
namespace {

constexpr double same = 1e-6;            // of the steps compared; engines round to 1e-9 of a run
constexpr double smallest_drift = 1e-4;  // of the steps compared
constexpr double equally_long = 0.01;    // of steps that alternate without repeating
constexpr std::size_t whole_turns = 12;  // for steps that alternate in cycles of 2, 3, 4 or 6

/// Several steps as one window. @pre 0 <= last - steps
StepWindow joined(const std::vector<StepWindow>& windows, std::size_t last, std::size_t steps) {
  return {static_cast<int>(last), windows[last - steps].to, windows[last].to, static_cast<int>(steps)};
}

/// Ops of the steps of a run, which its graph has step by step.
class OpsOfSteps {
 public:
  OpsOfSteps(const OpGraph& ops, const Timeline& timeline, int steps) : ops_{ops}, timeline_{timeline} {
    for (int step = 0; step <= steps; ++step) first_.push_back(first_op_of(step, ops));
  }

  /// Whether GPUs and links do the same in both steps, `later` in one of them. The CPU may do it earlier: its
  /// lead may grow for many steps after nothing waits for it.
  /// @param cpu_slack how much later it may be
  bool are_alike(std::size_t step, std::size_t other_step, Seconds later, Seconds slack,
                 Seconds cpu_slack) const {
    return all_ops(step, other_step, later, [&](Activity activity, Seconds start, Seconds end) {
      if (activity == Activity::launch || activity == Activity::marker) return end <= cpu_slack;
      return std::abs(start.value()) <= slack.value() && std::abs(end.value()) <= slack.value();
    });
  }

  /// Whether nothing begins or ends later than in the other step, apart from `later`.
  bool is_no_later(std::size_t step, std::size_t other_step, Seconds later, Seconds slack) const {
    return all_ops(step, other_step, later,
                   [&](Activity, Seconds start, Seconds end) { return start <= slack && end <= slack; });
  }

 private:
  /// Whether both steps have the same ops, each of which agrees with that of the other step.
  /// @param agrees gets how much later than `later` an op starts and ends
  template <class Agrees>
  bool all_ops(std::size_t step, std::size_t other_step, Seconds later, const Agrees& agrees) const {
    const auto count = first_[step + 1] - first_[step];
    if (first_[other_step + 1] - first_[other_step] != count) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const auto a = first_[step] + i;
      const auto b = first_[other_step] + i;
      const auto start = timeline_.start[a] - timeline_.start[b] - later;
      const auto end = timeline_.end[a] - timeline_.end[b] - later;
      if (!agrees(ops_.ops()[a].origin.activity, start, end)) return false;
    }
    return true;
  }

  const OpGraph& ops_;
  const Timeline& timeline_;
  std::vector<std::size_t> first_;  ///< op by step, and the end
};

}  // namespace

std::vector<StepWindow> step_windows(const Workload& workload, const OpGraph& ops, const Timeline& timeline) {
  std::vector<Seconds> ends(static_cast<std::size_t>(workload.steps));
  for (int step = 0; step < workload.steps; ++step) {
    auto& end = ends[static_cast<std::size_t>(step)];
    const auto end_of_step = first_op_of(step + 1, ops);
    for (auto i = first_op_of(step, ops); i < end_of_step; ++i) end = std::max(end, timeline.end[i]);
  }
  std::vector<StepWindow> windows;
  Seconds from{};
  for (const auto end : ends) {
    windows.push_back({static_cast<int>(windows.size()), from, end});
    from = end;
  }
  return windows;
}

std::optional<StepWindow> repeating_steps(const Workload& workload, const OpGraph& ops,
                                          const Timeline& timeline, Drift drift) {
  const auto windows = step_windows(workload, ops, timeline);
  const OpsOfSteps of_steps{ops, timeline, workload.steps};
  const auto turns = static_cast<std::size_t>(workload.turns());
  const auto slack_of = [&](Seconds length) {
    return length * (drift == Drift::none ? same : smallest_drift);
  };
  const auto repeated_until = [&](std::size_t last) -> std::optional<StepWindow> {
    for (auto period = turns; 2 * period <= last; period += turns) {
      const auto window = joined(windows, last, period);
      const auto length = window.to - window.from;
      const auto slack = slack_of(length);
      const auto cpu_slack = drift == Drift::none ? Seconds::infinite() : slack;
      const auto before = windows[last - period].to - windows[last - 2 * period].to;
      if (std::abs((length - before).value()) > slack.value()) continue;
      bool repeats = true;
      for (auto step = last; repeats && step + period > last; --step)
        repeats = of_steps.are_alike(step, step - period, length, slack, cpu_slack);
      if (repeats) return window;
    }
    return std::nullopt;
  };
  const auto last = windows.size() - 1 - static_cast<std::size_t>(workload.after_reported);
  if (const auto window = repeated_until(last); window || last == 0) return window;
  const auto earlier = repeated_until(last - 1);
  const auto before = last > 1 ? repeated_until(last - 2) : std::nullopt;
  if (!earlier || !before || before->steps != earlier->steps) return std::nullopt;
  const auto length = earlier->to - earlier->from;
  const auto steps = static_cast<std::size_t>(earlier->steps);
  return of_steps.is_no_later(last, last - steps, length, slack_of(length)) ? earlier : std::nullopt;
}

std::optional<StepWindow> repeating_second_step(const Workload& workload, const OpGraph& ops,
                                                const Timeline& timeline) {
  const auto window = step_windows(workload, ops, timeline).at(1);
  const auto first = first_op_of(0, ops);
  const auto second = first_op_of(1, ops);
  const auto count = ops.size() - second;
  if (second - first != count) return std::nullopt;
  const auto length = window.to - window.from;
  const auto slack = length * same;
  auto begin = Seconds::infinite();
  for (auto i = second; i < ops.size(); ++i) begin = std::min(begin, timeline.start[i]);
  for (std::size_t i = 0; i < count; ++i) {
    const auto later = timeline.end[second + i] - length;
    const auto end = timeline.end[first + i];
    const bool is_alike =
        end > begin ? std::abs((later - end).value()) <= slack.value() : later <= begin + slack;
    if (!is_alike) return std::nullopt;
  }
  return window;
}

std::optional<StepWindow> periodic_steps(const Workload& workload, const OpGraph& ops,
                                         const Timeline& timeline, Seconds period) {
  constexpr double tolerance = 0.005;
  constexpr std::size_t least_steps = 4;
  const auto windows = step_windows(workload, ops, timeline);
  const auto last = windows.size() - 1 - static_cast<std::size_t>(workload.after_reported);
  const auto turns = static_cast<std::size_t>(workload.turns());
  for (auto steps = turns; 2 * steps <= last; steps += turns) {
    const auto later = joined(windows, last, steps);
    const auto periods = (later.to - later.from) / period;
    const auto number = std::round(periods);
    if (steps < least_steps || number < 1 || std::abs(periods - number) > tolerance * number) continue;
    const auto earlier = joined(windows, last - steps, steps);
    if (std::abs(later.each() / earlier.each() - 1) <= equally_long) return later;
  }
  return std::nullopt;
}

StepWindow epoch_window(const Workload& workload, const OpGraph& ops, const Timeline& timeline) {
  const auto windows = step_windows(workload, ops, timeline);
  auto window = joined(windows, windows.size() - 1, windows.size() - 1);
  std::map<std::int32_t, Seconds> first;  // by rank: when it had the first batch
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto& origin = ops.op(OpId{i}).origin;
    if (origin.step != 0 || origin.actor < 0 || origin.actor >= workload.ranks) continue;
    if (!ends_take(ops, i, workload.programs[origin.program]) && origin.activity != Activity::load) continue;
    auto& first_batch = first[origin.actor];
    first_batch = std::max(first_batch, timeline.end[i]);
  }
  Seconds sum{}, last{};
  for (const auto& [rank, first_batch] : first) {
    sum += first_batch;
    last = std::max(last, first_batch);
  }
  if (!first.empty()) window.from -= last - sum / static_cast<double>(first.size());
  return window;
}

std::optional<StepWindow> stable_steps(const Workload& workload, const OpGraph& ops,
                                       const Timeline& timeline) {
  const auto windows = step_windows(workload, ops, timeline);
  const auto last = windows.size() - 1 - static_cast<std::size_t>(workload.after_reported);
  auto quarter = last / 4;
  if (quarter == 0) return std::nullopt;
  // Both halves must have the same number of long and of short steps.
  const auto turns = std::lcm(static_cast<std::size_t>(workload.turns()), whole_turns);
  const auto of_loaders = static_cast<std::size_t>(workload.turns());
  quarter -= quarter % (quarter >= turns                          ? turns
                        : quarter >= of_loaders && of_loaders > 1 ? of_loaders
                        : quarter >= whole_turns                  ? whole_turns
                        : quarter > 1                             ? 2
                                                                  : 1);
  const auto later = joined(windows, last, quarter).each();
  const auto earlier = joined(windows, last - quarter, quarter).each();
  if (std::abs(later / earlier - 1) > equally_long) return std::nullopt;
  return joined(windows, last, 2 * quarter);
}

}  // namespace gradway
