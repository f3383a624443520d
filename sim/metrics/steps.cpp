// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/steps.hpp"

#include <algorithm>

namespace gradway {

std::vector<StepWindow> step_windows(const WorkloadGraph& workload, const OpGraph& ops,
                                     const Timeline& timeline) {
  std::vector<Seconds> ends(static_cast<std::size_t>(workload.steps));
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto step = ops.op(OpId{i}).origin.step;
    if (step < 0 || step >= workload.steps) continue;
    auto& end = ends[static_cast<std::size_t>(step)];
    end = std::max(end, timeline.end[i]);
  }
  std::vector<StepWindow> windows;
  Seconds from{};
  for (const auto end : ends) {
    windows.push_back({static_cast<int>(windows.size()), from, end});
    from = end;
  }
  return windows;
}

StepWindow reported_step(const WorkloadGraph& workload, const OpGraph& ops, const Timeline& timeline) {
  const auto step = static_cast<std::size_t>(workload.steps - 1 - workload.after_reported);
  return step_windows(workload, ops, timeline)[step];
}

}  // namespace gradway
