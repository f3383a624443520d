// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload.hpp"

namespace gradway {

/// A period of a step that repeats: it is simulated once, or a few times, and stands for more. See
/// run/repetition.hpp.
struct RepeatedPeriod {
  Seconds from{};
  Seconds to{};
  int left_out = 0;  ///< periods of the step that are not in the timeline

  Seconds time_left_out() const { return (to - from) * left_out; }
  bool has(Seconds date) const { return date > from && date <= to; }
};

/// The time of some steps of a run: from the end of the last op of the previous step (of the first step: from
/// the start of the run) to the end of their own last op. Work that the CPU or a copy engine did ahead of
/// time is in earlier windows.
struct StepWindow {
  int step = 0;  ///< the last of them
  Seconds from{};
  Seconds to{};
  int steps = 1;
  RepeatedPeriod repeated{};  ///< of its only step; several steps have none

  Seconds each() const { return (to - from + repeated.time_left_out()) / steps; }
  bool has(int number) const { return number <= step && number > step - steps; }
};

/// A window for each step of a run, in order.
std::vector<StepWindow> step_windows(const Workload& workload, const OpGraph& ops, const Timeline& timeline);

/// How far steps that count as repeating may move against each other.
enum class Drift {
  none,  ///< not at all, to the rounding of engines
  small  ///< by 0.01 % of their length
};

/// The steady state: the fewest steps before the last `after_reported` ones that repeat the same number of
/// steps before them in all work of GPUs and links. Mostly one; several where steps alternate because the CPU
/// may be ahead by many launches. Empty if nothing repeats, or the run is too short.
///
/// The last of these steps may be shorter, and is then left out: ranks of a pipeline begin the next step
/// while others end theirs, and nothing follows the last one. Three steps, or three periods, before it must
/// be alike.
///
/// With a small drift no op, of CPUs neither, may be later by more than 0.01 % of the length L. No later
/// steps are then longer than 1.0001 L: if every op of a period ends at most d after that of the period
/// before, each op of the next period does so, too, as long as times only move together with those of the ops
/// before them (a max-plus linear system; Baccelli et al., Synchronization and Linearity, 1992, ch. 3). Flows
/// that share links keep this to the extent that they meet the same flows as a period before.
std::optional<StepWindow> repeating_steps(const Workload& workload, const OpGraph& ops,
                                          const Timeline& timeline, Drift drift = Drift::none);

/// The second of two steps, if all later ones are like it. They are if the run is in the same state when the
/// first op of the second step begins and one step later: ops of the first step that have ended by then have
/// ended a step later in the second one, too, and all others end exactly a step later.
std::optional<StepWindow> repeating_second_step(const Workload& workload, const OpGraph& ops,
                                                const Timeline& timeline);

/// If a neighbour's traffic comes and goes: the last steps that take a whole number of its periods, to half a
/// percent, twice: the steps before them must take as long, to a percent.
std::optional<StepWindow> periodic_steps(const Workload& workload, const OpGraph& ops,
                                         const Timeline& timeline, Seconds period);

/// An epoch without its first step, as MLPerf Storage counts: from the mean time at which ranks end that
/// step, each as soon as it has its batch, to the end. @pre at least two steps
/// @source github.com/mlcommons/storage, v1.0: the time of the first step is subtracted from that of the
/// epoch
StepWindow epoch_window(const Workload& workload, const OpGraph& ops, const Timeline& timeline);

/// If nothing repeats exactly: the later half of the steps, if its two halves take equally long.
std::optional<StepWindow> stable_steps(const Workload& workload, const OpGraph& ops,
                                       const Timeline& timeline);

}  // namespace gradway
