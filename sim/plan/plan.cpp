// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/ddp/ddp.hpp"
#include "sim/plan/model_step.hpp"
#include "sim/plan/sharded/distributed_optimizer.hpp"
#include "sim/plan/sharded/fsdp.hpp"
#include "sim/plan/sharded/fsdp1.hpp"
#include "sim/plan/sharded/zero.hpp"
#include "sim/plan/sharded/zero3.hpp"

namespace gradway {
namespace {

// A step starts with the lead that the CPU won in the ones before: the first has none, and two alike must
// follow.
constexpr int least_steps = 3;

/// Exchanges nothing.
class NoSync final : public Sync {};

/// Which strategy adds what; a new one does not compile until it stands here.
struct MakeSync {
  const Scenario& scenario;

  std::unique_ptr<Sync> operator()(const Alone&) const { return std::make_unique<NoSync>(); }
  std::unique_ptr<Sync> operator()(const OneCollective&) const { return std::make_unique<NoSync>(); }
  std::unique_ptr<Sync> operator()(const Ddp&) const { return std::make_unique<DdpSync>(scenario); }
  std::unique_ptr<Sync> operator()(const Fsdp1&) const { return std::make_unique<Fsdp1Sync>(scenario); }
  std::unique_ptr<Sync> operator()(const Zero& zero) const {
    if (zero.stage == 3) return std::make_unique<Zero3Sync>(scenario);
    return std::make_unique<ZeroSync>(scenario);
  }
  std::unique_ptr<Sync> operator()(const DistributedOptimizer&) const {
    return std::make_unique<DistributedOptimizerSync>(scenario);
  }
  std::unique_ptr<Sync> operator()(const Fsdp&) const { return std::make_unique<FsdpSync>(scenario); }
};

/// As many steps as show the steady state at best. Prefetches fall into the steps by which the CPU can be
/// ahead, and those of the steps behind the reported one into that.
void reach_steady_state(Workload& workload, const Scenario& scenario) {
  workload.starts_steady =
      scenario.platform.gpu_models.front().ideal && scenario.job.input.background_copy == 0_B;
  if (workload.starts_steady) return;
  for (const auto& program : workload.programs) {
    int launches = 0;
    bool copies_beside = false;
    for (const auto& task : program.tasks) {
      if (program.lane(task) == Lane::compute) launches += task.launches;
      copies_beside = copies_beside || program.is_beside(task);
    }
    if (!copies_beside) continue;
    workload.after_reported =
        std::max(workload.after_reported, (launch_queue_depth + launches - 1) / std::max(1, launches) + 1);
  }
  workload.steps = std::max(workload.steps, least_steps + workload.after_reported) + workload.after_reported;
}

}  // namespace

std::unique_ptr<Sync> make_sync(const Scenario& scenario) {
  return std::visit(MakeSync{scenario}, scenario.job.strategy);
}

Workload on_all_ranks(Program program, const Scenario& scenario, std::vector<Partition> partitions) {
  Workload workload;
  workload.ranks = scenario.job.gpus;
  workload.steps = scenario.job.steps;
  const bool meets = std::ranges::any_of(
      program.tasks, [](const Task& task) { return std::holds_alternative<Call>(task.work); });
  workload.programs.push_back(std::move(program));
  for (int rank = 0; rank < workload.ranks; ++rank)
    workload.actors.push_back(
        {.program = ProgramId{0}, .at = scenario.platform.gpus[static_cast<std::size_t>(rank)]});
  if (!meets) return workload;
  if (partitions.empty()) partitions.push_back({"all ranks", [](int) { return 0; }});
  for (const auto& [name, colour] : partitions) {
    const auto first = workload.groups.size();
    for (std::size_t rank = 0; rank < workload.actors.size(); ++rank) {
      const auto group = first + static_cast<std::size_t>(colour(static_cast<int>(rank)));
      if (group >= workload.groups.size()) workload.groups.resize(group + 1);
      workload.groups[group].members.emplace_back(rank);
      workload.actors[rank].groups.emplace_back(group);
    }
    const auto count = workload.groups.size() - first;
    for (std::size_t i = 0; i < count; ++i)
      workload.groups[first + i].name = count == 1 ? name : fmt::format("{} {}", name, i);
  }
  return workload;
}

Workload plan(const Scenario& scenario, const ComputeCosts& costs) {
  if (!trains(scenario.job.strategy)) return plan_collective(scenario);
  const auto sync = make_sync(scenario);
  auto workload = on_all_ranks(model_step(scenario, costs, *sync), scenario, sync->groups());
  reach_steady_state(workload, scenario);
  return workload;
}

}  // namespace gradway
