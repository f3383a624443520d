// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/host_reads.hpp"

#include <array>
#include <utility>

#include "sim/cost/framework_cost.hpp"

namespace gradway {

TaskId read_back(TaskList& tasks, std::string name, Phase phase, Bytes size) {
  auto task = copy_task(std::move(name), phase, {.bytes = size, .to = Place::host, .pinned = false},
                        compute_stream, tasks.hook(host_read_cpu.copy, 0));
  task.host_waits = true;
  const auto id = tasks.add(std::move(task));
  tasks.wait("value seen by the CPU", phase, tasks.cpu(seen_by_host));
  return id;
}

void read_values(TaskList& tasks, const RankScenario& scenario, HostReadsAfter phase) {
  const auto& job = scenario.job;
  if (job.host_reads_after != phase) return;
  constexpr std::array phases{Phase::forward, Phase::backward, Phase::optimizer};
  const auto in = phases[static_cast<std::size_t>(phase)];
  for (int i = 0; i < job.host_reads; ++i) {
    // The values that are reduced come first. The all-reduce overwrites a copy of the value.
    const bool is_reduced = i < job.reduced_metrics;
    if (i > 0 || is_reduced) {
      const auto made = tasks.kernel(is_reduced ? "copy of a metric" : "value to read", in,
                                     tasks.tiny(1, smallest_kernel), 1);
      tasks[made].launch = tasks.hook(host_read_cpu.value, 0);
    }
    if (is_reduced) {
      const auto reduced =
          tasks.call({CollectiveKind::all_reduce, job.host_read_size, Slot{0}}, communicator_stream,
                     "metric all-reduce", tasks.cpu(ddp_cpu.all_reduce), tasks.last());
      const auto there = tasks.wait("metric is reduced", in, {});
      tasks[there].after.push_back(reduced);
    }
    read_back(tasks, "value read back", in, job.host_read_size);
  }
}

}  // namespace gradway
