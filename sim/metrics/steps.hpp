// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload.hpp"

namespace gradway {

/// The part of a run that counts as some of its steps: from the end of the last op of the step before (for
/// the first step: from the start of the run) to the end of their own last op. What the CPU or a copy engine
/// did ahead of time lies in windows before.
struct StepWindow {
  int step = 0;  ///< the last of them
  Seconds from{};
  Seconds to{};
  int steps = 1;

  Seconds each() const { return (to - from) / steps; }
  bool has(int other) const { return other <= step && other > step - steps; }
};

/// All steps of a run, in their order, one by one.
std::vector<StepWindow> step_windows(const Workload& workload, const OpGraph& ops, const Timeline& timeline);

/// The steady state: the fewest steps before the last `after_reported` ones in which all that the GPUs and
/// links do repeats what they did in as many steps before. Mostly one; several where the CPU, which may be
/// ahead by many launches, lets steps alternate. Empty if nothing repeats, or the run is too short to tell.
std::optional<StepWindow> repeating_steps(const Workload& workload, const OpGraph& ops,
                                          const Timeline& timeline);

/// A whole epoch but for its first step, as MLPerf Storage counts: from the moment at which ranks have ended
/// that step on average, each as soon as it had its batch, to the end. @pre at least two steps
/// @source github.com/mlcommons/storage, v1.0: the time of the first step is taken off that of the epoch
StepWindow epoch_window(const Workload& workload, const OpGraph& ops, const Timeline& timeline);

/// Where nothing repeats exactly: the later half of the steps, if the two halves of it take equally long.
std::optional<StepWindow> level_steps(const Workload& workload, const OpGraph& ops, const Timeline& timeline);

}  // namespace gradway
