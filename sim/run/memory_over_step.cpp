// SPDX-License-Identifier: Apache-2.0
#include "sim/run/memory_over_step.hpp"

#include <algorithm>

#include "sim/compute/memory_range.hpp"
#include "sim/plan/plan.hpp"

namespace gradway {

std::vector<MemoryMoment> memory_over_step(const Run& run) {
  if (!knows_memory(run.scenario)) return {};
  const auto fullest = run.measured.memory;
  const auto programs = memory_over_step(run.scenario, compute_costs(run.scenario));
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (run.workload.programs[i].memory.allocated() != fullest.allocated()) continue;
    auto moments = programs[i];
    for (auto& moment : moments) {
      moment.use.nccl = fullest.nccl;
      moment.use.slack = fullest.slack;
    }
    return moments;
  }
  return {};
}

}  // namespace gradway
