// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "sim/graph/workload_graph.hpp"
#include "sim/platform/gpu.hpp"

namespace gradway {

/// Appends tasks to a step in the order in which the CPU issues them; knows what issuing costs on this GPU.
class TaskList {
 public:
  TaskList(WorkloadGraph& graph, const Gpu& gpu) : graph_{graph}, gpu_{gpu} {}

  /// Adds a task as it stands.
  TaskId add(Task task);
  /// Adds `kernels` launches as one task; the CPU needs the GPU's launch cost for each.
  TaskId kernel(std::string name, Phase phase, Seconds work, int kernels);
  /// The same on a stream of its own, after another task.
  TaskId kernel_after(TaskId before, std::string name, Phase phase, Seconds work, int kernels);

  Task& operator[](TaskId id) { return graph_.tasks[id.index()]; }
  TaskId last() const { return TaskId{graph_.tasks.size() - 1}; }
  const Gpu& gpu() const { return gpu_; }

 private:
  WorkloadGraph& graph_;
  const Gpu& gpu_;
};

}  // namespace gradway
