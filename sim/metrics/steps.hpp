// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload_graph.hpp"

namespace gradway {

/// The part of a run that counts as one of its steps: from the end of the last op of the step before (for the
/// first step: from the start of the run) to the end of its own last op. What the CPU or a copy engine did
/// ahead of time lies in windows before.
struct StepWindow {
  int step = 0;
  Seconds from{};
  Seconds to{};
};

/// All steps of a run, in their order.
std::vector<StepWindow> step_windows(const WorkloadGraph& workload, const OpGraph& ops,
                                     const Timeline& timeline);

/// The step that is reported: the last one, or one before it if the plan says so.
StepWindow reported_step(const WorkloadGraph& workload, const OpGraph& ops, const Timeline& timeline);

}  // namespace gradway
