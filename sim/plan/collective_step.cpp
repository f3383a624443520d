// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/collective_step.hpp"

#include "sim/cost/framework_cost.hpp"
#include "sim/cost/nccl_model.hpp"

namespace gradway {

WorkloadGraph plan_collective(const Scenario& scenario) {
  const auto& call = scenario.job.strategy.collective;
  WorkloadGraph graph;
  graph.ranks = scenario.job.gpus;
  graph.steps = scenario.job.steps;
  graph.starts_steady = true;  // no call is issued before the one before it has ended, or issuing is free
  Task task;
  task.name = name_of(call.kind);
  task.kind = TaskKind::collective;
  task.activity = Activity::collective;
  task.phase = Phase::communication;
  task.stream = Stream::communicator;
  task.collective = call.kind;
  task.bytes = call.size;
  if (call.one_by_one && !scenario.platform.gpu_models.front().ideal) {
    task.launch = pytorch_collective_alone;
    task.host_waits = true;
  }
  graph.tasks.push_back(std::move(task));
  return graph;
}

}  // namespace gradway
