// SPDX-License-Identifier: Apache-2.0
#include "sim/compute/profile_costs.hpp"

#include <algorithm>

#include "sim/cost/framework_cost.hpp"

namespace gradway {

Seconds replay(const std::vector<ReplayedLaunch>& step, double cpu_scale, Seconds pause) {
  constexpr int steps = 4;  // the lead of the CPU is steady from the second step on
  std::vector<Seconds> ends;
  ends.reserve(steps * step.size());
  Seconds cpu{};
  Seconds gpu{};
  Seconds before{};
  for (int i = 0; i < steps; ++i) {
    before = gpu;
    for (const auto& launch : step) {
      if (ends.size() >= launch_queue_depth) cpu = std::max(cpu, ends[ends.size() - launch_queue_depth]);
      cpu += launch.cpu * cpu_scale;
      gpu = std::max(cpu, gpu) + pause + launch.gpu;
      ends.push_back(gpu);
      if (launch.host_waits) cpu = std::max(cpu, gpu);
    }
  }
  return gpu - before;
}

}  // namespace gradway
