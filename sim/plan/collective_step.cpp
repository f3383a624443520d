// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_step.hpp"

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/sync.hpp"
#include "sim/plan/task_list.hpp"

namespace gradway {

Workload plan_collective(const Scenario& scenario) {
  const auto& call = std::get<OneCollective>(scenario.job.strategy);
  Program program{.name = "rank", .streams = streams_of_a_rank()};
  Task task;
  task.name = name_of(call.kind);
  task.work = Call{call.kind, call.size, Slot{0}};
  task.phase = Phase::communication;
  task.stream = communicator_stream;
  if (call.one_by_one && !scenario.platform.gpu_models.front().ideal) {
    task.launch = pytorch_collective_alone;
    task.host_waits = true;
  }
  program.tasks.push_back(std::move(task));
  program.samples = static_cast<double>(scenario.job.batch_per_gpu) * scenario.job.accumulate;
  program.memory = memory_use(scenario, {}, *make_sync(scenario));
  auto workload = on_all_ranks(std::move(program), scenario);
  workload.starts_steady = true;  // no call is issued before the previous one has ended, or issuing is free
  return workload;
}

}  // namespace gradway
