// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/ddp/ddp.hpp"
#include "sim/plan/expert_sync.hpp"
#include "sim/plan/input/loader.hpp"
#include "sim/plan/model_step.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/rank_layout.hpp"
#include "sim/plan/sharded/distributed_optimizer.hpp"
#include "sim/plan/sharded/fsdp.hpp"
#include "sim/plan/sharded/fsdp1.hpp"
#include "sim/plan/sharded/zero.hpp"
#include "sim/plan/sharded/zero3.hpp"
#include "sim/plan/tables_sync.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

// A step starts with the lead that the CPU gained in earlier steps. The first step has none, and two equal
// steps must follow.
constexpr int min_steps = 3;

/// A strategy without communication.
class NoSync final : public Sync {};

/// Makes the strategy's tasks. A new strategy does not compile until it is added here.
struct MakeSync {
  const RankScenario& scenario;

  std::unique_ptr<Sync> operator()(const NoExchange&) const { return std::make_unique<NoSync>(); }
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

Partition all_ranks() {
  return {"all ranks", [](int) { return 0; }};
}

/// CUDA_LAUNCH_BLOCKING=1: the CPU waits for each launch. The messages of an exchange between stages are one
/// launch, for whose end the exchange waits.
void block_on_launches(Workload& workload) {
  for (auto& program : workload.programs) {
    for (auto& task : program.tasks) {
      const auto* call = std::get_if<Call>(&task.work);
      const bool is_message = call != nullptr && call->kind == CollectiveKind::send;
      const bool on_gpu = std::holds_alternative<Kernel>(task.work) ||
                          std::holds_alternative<Copy>(task.work) || call != nullptr;
      if (on_gpu && !is_message) task.host_waits = true;
    }
  }
}

/// Whether the CPU of each rank waits for its GPU in the last tasks of a step.
bool waits_near_end(const Workload& workload) {
  const auto waits = [](const Program& program) {
    const auto& tasks = program.tasks;
    const auto last = std::ranges::find_if(tasks.rbegin(), tasks.rend(), &Task::host_waits);
    return last != tasks.rend() && 4 * (last - tasks.rbegin()) < std::ssize(tasks);
  };
  return std::ranges::all_of(workload.programs, waits);
}

/// Chooses enough steps to show the steady state. Prefetches overlap the steps by which the CPU can be ahead,
/// and prefetches of the steps after the reported one overlap that step.
void choose_step_count(Workload& workload, const Job& job, const Gpu& gpu) {
  if (job.launch_blocking) block_on_launches(workload);
  const auto& input = job.input;
  workload.starts_steady = gpu.ideal && input.background_copy == 0_B && !input.dataset;
  if (workload.starts_steady) return;
  if (input.dataset && input.epoch_steps) {
    workload.whole_epoch = true;
    workload.steps = *input.epoch_steps;
    return;
  }
  for (const auto& program : workload.programs) {
    int launches = 0;
    bool has_background_copies = false;
    for (const auto& task : program.tasks) {
      if (program.lane(task) == Lane::compute) launches += task.launches;
      has_background_copies = has_background_copies || program.is_background_copy(task);
    }
    if (!has_background_copies) continue;
    workload.after_reported =
        std::max(workload.after_reported, (launch_queue_depth + launches - 1) / std::max(1, launches) + 1);
  }
  // The first batches are ready at once. After the reported step workers must have the same number left to
  // load.
  const int turns = input.dataset ? workload.turns() : 0;
  workload.after_reported = std::max(workload.after_reported, turns * (1 + input.prefetch_factor));
  workload.may_repeat_early = workload.steps <= 2 && turns == 0 && workload.after_reported == 0 &&
                              job.traffic.empty() && !workload.varies() && waits_near_end(workload);
  workload.steps =
      std::max(workload.steps, min_steps + turns + workload.after_reported) + workload.after_reported;
}

}  // namespace

std::unique_ptr<Sync> make_sync(const RankScenario& scenario) {
  auto sync = std::visit(MakeSync{scenario}, scenario.job.strategy);
  if (scenario.model.tables.empty()) return sync;
  return std::make_unique<TablesSync>(scenario, std::move(sync));
}

namespace {

bool calls_slot(const Program& program, Slot slot) {
  return std::ranges::any_of(program.tasks, [&](const Task& task) {
    const auto* call = std::get_if<Call>(&task.work);
    return call && call->group == slot;
  });
}

Workload empty_workload(const Job& job) {
  Workload workload;
  workload.ranks = job.gpus;
  workload.steps = job.steps;
  return workload;
}

/// Gradients of a parameter that the first and the last rank of a pipeline share.
Bytes tied_bytes(const Model& model) {
  Bytes size{};
  if (model.frozen_count() > 0) return size;
  for (const auto& layer : model.layers)
    if (layer.tied) size += Bytes{fp32_bytes * static_cast<double>(layer.tied->elements())};
  return size;
}

/// The model as its layout divides it.
StagedModel staged_model(const Scenario& scenario, const ComputeCosts& costs) {
  auto model = scenario.model;
  if (!costs.of_rank.empty()) model.layers = costs.of_rank;
  auto pipeline = pipeline_of(scenario.job.layout);
  model = with_tied_copies(std::move(model), pipeline);
  return {std::move(model), std::move(pipeline)};
}

/// By stage: size of the output of its last layer.
std::vector<Bytes> messages_of(const StagedModel& model, const ComputeCosts& costs) {
  std::vector<Bytes> messages(static_cast<std::size_t>(model.pipeline().stages()));
  for (std::size_t i = 0; i < model.stages().size(); ++i)
    messages[static_cast<std::size_t>(model.stages()[i])] = costs.outputs[i];
  return messages;
}

std::unique_ptr<Sync> make_stage_sync(const RankScenario& rank, const Model& whole_model,
                                      const std::vector<std::int32_t>& layers) {
  if (facts_of(rank.job.strategy).exchanges && splits_experts(rank.job, whole_model))
    return std::make_unique<ExpertSync>(rank, whole_model, layers);
  return make_sync(rank);
}

/// The program of each stage and the groups of its ranks.
struct StagePrograms {
  std::vector<Program> programs{};
  std::vector<Partition> partitions{};
  Bytes tied{};  ///< gradients that the first and the last rank of the pipeline exchange
};

/// @param memory gets the memory over the step of each stage; null: not asked for
StagePrograms stage_programs(const Scenario& scenario, const ComputeCosts& costs,
                             std::vector<std::vector<MemoryMoment>>* memory = nullptr) {
  const auto& layout = scenario.job.layout;
  const auto staged = staged_model(scenario, costs);
  const auto& pipeline = staged.pipeline();
  const auto& whole_model = staged.model();
  StagePrograms stages;
  if (pipeline.rank_of(pipeline.stages() - 1) != 0) stages.tied = tied_bytes(whole_model);
  ModelTasks tasks;
  const auto blocks = blocks_of(scenario.model);
  const auto messages = messages_of(staged, costs);
  const bool plans_messages = scenario.job.framework == Framework::pytorch && layout.chunks > 1 &&
                              layout.messages == Messages::planned;
  auto receives = plans_messages ? planned_receives(pipeline, scenario.job.accumulate)
                                 : std::vector<Receives>(static_cast<std::size_t>(pipeline.ranks));
  for (int rank = 0; rank < pipeline.ranks; ++rank) {
    RankPart rank_part{.rank = rank,
                       .whole = &whole_model,
                       .blocks = &blocks,
                       .tasks = &tasks,
                       .part = staged.part_of(rank),
                       .messages = messages,
                       .tied = stages.tied,
                       .receives = std::move(receives[static_cast<std::size_t>(rank)])};
    const RankScenario of_rank{scenario, rank_part.part.model};
    const auto sync = make_stage_sync(of_rank, whole_model, rank_part.part.layers);
    stages.partitions = sync->groups();
    if (stages.partitions.empty()) stages.partitions.push_back(all_ranks());
    auto next = static_cast<std::uint32_t>(stages.partitions.size());
    for (const auto group : groups_inside(layout))
      rank_part.slots[static_cast<std::size_t>(group)] = {next++};
    if (exchanges_fp8_scales(scenario.job)) rank_part.scales = {next++};
    rank_part.first_slot = {next};
    auto* of_stage = memory ? &memory->emplace_back() : nullptr;
    stages.programs.push_back(model_step(scenario, costs, *sync, &rank_part, of_stage));
  }
  return stages;
}

Workload plan_stages(const Scenario& scenario, const ComputeCosts& costs) {
  const auto& layout = scenario.job.layout;
  const auto pipeline = pipeline_of(layout);
  auto stages = stage_programs(scenario, costs);
  auto workload = empty_workload(scenario.job);
  workload.programs = std::move(stages.programs);
  RankLayout ranks{workload, scenario.job, scenario.platform};
  for (const auto& partition : stages.partitions) ranks.add(partition);
  for (const auto group : groups_inside(layout)) ranks.add_inside(group);
  if (exchanges_fp8_scales(scenario.job)) ranks.add_stages();
  for (const auto& [from, to, is_backward] : hops_of(pipeline)) {
    const auto* content = is_backward ? "gradients" : "activations";
    ranks.add_pairs(fmt::format("{} {} to {}", content, from, to), from, to);
  }
  if (stages.tied > 0_B) ranks.add_pairs("tied parameters", 0, pipeline.rank_of(pipeline.stages() - 1));
  return workload;
}

}  // namespace

Workload on_all_ranks(Program program, const Scenario& scenario, std::vector<Partition> partitions) {
  auto workload = empty_workload(scenario.job);
  const bool needs_all = calls_slot(program, Slot{0}) || exchanges_fp8_scales(scenario.job);
  if (partitions.empty() && needs_all) partitions.push_back(all_ranks());
  workload.programs.push_back(std::move(program));
  RankLayout ranks{workload, scenario.job, scenario.platform};
  for (const auto& partition : partitions) ranks.add(partition);
  if (exchanges_fp8_scales(scenario.job)) ranks.add_stages();
  return workload;
}

Workload plan(const Scenario& scenario, const ComputeCosts& costs) {
  if (!trains(scenario.job.strategy)) return plan_collective(scenario);
  Workload workload;
  if (scenario.job.layout.is_model_parallel()) {
    workload = plan_stages(scenario, costs);
  } else {
    const auto sync = make_sync(scenario);
    workload = on_all_ranks(model_step(scenario, costs, *sync), scenario, sync->groups());
  }
  Loader{scenario}.add_workers(workload);
  choose_step_count(workload, scenario.job, scenario.platform.gpu_models.front());
  return workload;
}

std::vector<MemoryUse> memory_of_ranks(const Scenario& scenario, const ComputeCosts& costs) {
  const auto& job = scenario.job;
  if (!job.layout.is_model_parallel()) return {memory_use(scenario, costs.memory, *make_sync(scenario))};
  std::vector<MemoryUse> of_programs;
  const auto staged = staged_model(scenario, costs);
  const auto& pipeline = staged.pipeline();
  for (int rank = 0; rank < pipeline.ranks; ++rank) {
    const auto part = staged.part_of(rank);
    const RankScenario of_rank{scenario, part.model};
    const auto turns = passes_of_rank(pipeline, rank, job.accumulate);
    of_programs.push_back(memory_use(of_rank, memory_of_passes(costs.memory, part, turns, job.framework),
                                     *make_stage_sync(of_rank, staged.model(), part.layers)));
  }
  return of_programs;
}

std::vector<std::vector<MemoryMoment>> memory_over_step(const Scenario& scenario, const ComputeCosts& costs) {
  std::vector<std::vector<MemoryMoment>> of_programs;
  if (!trains(scenario.job.strategy)) return of_programs;
  if (scenario.job.layout.is_model_parallel()) {
    stage_programs(scenario, costs, &of_programs);
  } else {
    model_step(scenario, costs, *make_sync(scenario), nullptr, &of_programs.emplace_back());
  }
  return of_programs;
}

std::vector<Program> programs_of_ranks(const Scenario& scenario, const ComputeCosts& costs) {
  if (scenario.job.layout.is_model_parallel()) return stage_programs(scenario, costs).programs;
  std::vector<Program> programs;
  programs.push_back(model_step(scenario, costs, *make_sync(scenario)));
  return programs;
}

Workload with_costs(Workload workload, const Scenario& scenario, const ComputeCosts& costs) {
  if (!trains(scenario.job.strategy)) return workload;
  std::ranges::move(programs_of_ranks(scenario, costs), workload.programs.begin());
  workload.steps = scenario.job.steps;
  workload.after_reported = 0;
  choose_step_count(workload, scenario.job, scenario.platform.gpu_models.front());
  return workload;
}

}  // namespace gradway
