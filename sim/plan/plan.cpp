// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/plan.hpp"

#include <algorithm>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/ddp/ddp.hpp"
#include "sim/plan/model_step.hpp"

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

Workload on_all_ranks(Program program, const Scenario& scenario) {
  Workload workload;
  workload.ranks = scenario.job.gpus;
  workload.steps = scenario.job.steps;
  const bool meets = std::ranges::any_of(
      program.tasks, [](const Task& task) { return std::holds_alternative<Call>(task.work); });
  workload.programs.push_back(std::move(program));
  if (meets) workload.groups.push_back({"all ranks", {}});
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(workload.ranks); ++rank) {
    Actor actor{.program = ProgramId{0}, .at = scenario.platform.gpus[rank]};
    if (meets) {
      actor.groups.emplace_back(0);
      workload.groups.front().members.emplace_back(rank);
    }
    workload.actors.push_back(std::move(actor));
  }
  return workload;
}

Workload plan(const Scenario& scenario, const ComputeCosts& costs) {
  if (!trains(scenario.job.strategy)) return plan_collective(scenario);
  const auto sync = make_sync(scenario);
  auto workload = on_all_ranks(model_step(scenario, costs, *sync), scenario);
  reach_steady_state(workload, scenario);
  return workload;
}

}  // namespace gradway
