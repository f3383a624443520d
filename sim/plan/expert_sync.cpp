// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/expert_sync.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gradway {
namespace {

Partition one_partition(const char* name) {
  return {name, [](int) { return 0; }};
}

}  // namespace

ExpertSync::ExpertSync(const RankScenario& scenario, const Model& whole_model,
                       const std::vector<std::int32_t>& layers)
    : dense_{with_parameters(scenario.model, false)},
      experts_{with_parameters(scenario.model, true)},
      dense_sync_{make_sync({scenario, dense_, scenario.job.replicas()})},
      expert_sync_{make_sync({scenario, experts_, scenario.job.expert_replicas()})} {
  gradients_.resize(whole_model.layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& layer = scenario.model.layers[i];
    gradients_[static_cast<std::size_t>(layers[i])] = {layer.parameters.size(), layer.is_of_experts};
  }
}

std::vector<Partition> ExpertSync::groups() const {
  auto groups = dense_sync_->groups();
  if (groups.empty()) groups.push_back(one_partition("all ranks"));
  auto of_experts = expert_sync_->groups();
  if (of_experts.empty()) of_experts.push_back(one_partition("all ranks"));
  for (auto& group : of_experts) {
    group.name = "experts, " + group.name;
    group.of_experts = true;
  }
  std::ranges::move(of_experts, std::back_inserter(groups));
  return groups;
}

template <class Action>
void ExpertSync::for_experts(TaskList& tasks, const Action& action) {
  const auto first = tasks.size();
  const auto before = tasks.take_route(route_);
  action(*expert_sync_);
  tasks.take_route(before);
  for (auto i = first; i < tasks.size(); ++i)
    if (tasks[TaskId{i}].unit != Task::none) issued_.emplace_back(i);
}

void ExpertSync::before_step(TaskList& tasks) {
  tasks_ = &tasks;
  auto dense_groups = dense_sync_->groups().size();
  route_ = {static_cast<std::uint32_t>(std::max<std::size_t>(1, dense_groups)),
            tasks.add_stream("communicator of experts")};
  dense_sync_->before_step(tasks);
  for_experts(tasks, [&](Sync& sync) { sync.before_step(tasks); });
}

void ExpertSync::before_micro_step(TaskList& tasks, MicroStep step) {
  dense_sync_->before_micro_step(tasks, step);
  for_experts(tasks, [&](Sync& sync) { sync.before_micro_step(tasks, step); });
}

void ExpertSync::before_forward(TaskList& tasks, Module module) {
  dense_sync_->before_forward(tasks, module);
  for_experts(tasks, [&](Sync& sync) { sync.before_forward(tasks, module); });
}

void ExpertSync::after_forward(TaskList& tasks, Module module) {
  for_experts(tasks, [&](Sync& sync) { sync.after_forward(tasks, module); });
  dense_sync_->after_forward(tasks, module);
}

void ExpertSync::before_backward(TaskList& tasks, Module module) {
  dense_sync_->before_backward(tasks, module);
  for_experts(tasks, [&](Sync& sync) { sync.before_backward(tasks, module); });
}

void ExpertSync::after_backward(TaskList& tasks, Module module) {
  for_experts(tasks, [&](Sync& sync) { sync.after_backward(tasks, module); });
  dense_sync_->after_backward(tasks, module);
}

void ExpertSync::before_recompute(TaskList& tasks, Module module) {
  dense_sync_->before_recompute(tasks, module);
  for_experts(tasks, [&](Sync& sync) { sync.before_recompute(tasks, module); });
}

void ExpertSync::after_recompute(TaskList& tasks, Module module) {
  for_experts(tasks, [&](Sync& sync) { sync.after_recompute(tasks, module); });
  dense_sync_->after_recompute(tasks, module);
}

/// A CUDA graph makes the gradients of several layers. Its last task names the last of these layers, which
/// has the smallest number.
void ExpertSync::gradients_ready(TaskList& tasks, std::size_t count, const Task& task, bool is_last) {
  std::vector<Gradients> runs;
  std::size_t counted = 0;
  for (auto layer = static_cast<std::size_t>(task.layer); counted < count; ++layer) {
    const auto& gradients = gradients_[layer];
    if (gradients.count == 0) continue;
    if (runs.empty() || runs.back().is_of_experts != gradients.is_of_experts)
      runs.push_back({0, gradients.is_of_experts});
    runs.back().count += gradients.count;
    counted += gradients.count;
  }
  std::ranges::reverse(runs);
  for (const auto& run : runs) {
    const auto hand_over = [&](Sync& sync) { sync.gradients_ready(tasks, run.count, task, is_last); };
    if (run.is_of_experts) {
      for_experts(tasks, hand_over);
    } else {
      hand_over(*dense_sync_);
    }
  }
}

void ExpertSync::before_optimizer(TaskList& tasks) {
  dense_sync_->before_optimizer(tasks);
  for_experts(tasks, [&](Sync& sync) { sync.before_optimizer(tasks); });
}

void ExpertSync::after_optimizer(TaskList& tasks) {
  dense_sync_->after_optimizer(tasks);
  for_experts(tasks, [&](Sync& sync) { sync.after_optimizer(tasks); });
}

std::optional<OwnGradients> ExpertSync::own_gradients() const {
  auto gradients = dense_sync_->own_gradients();
  const auto expert_gradients = expert_sync_->own_gradients();
  if (!gradients || !expert_gradients) return std::nullopt;
  gradients->size += expert_gradients->size;
  return gradients;
}

TaskId ExpertSync::sum_norm(TaskList& tasks, TaskId norm) {
  auto sum = dense_sync_->sum_norm(tasks, norm);
  for_experts(tasks, [&](Sync& sync) { sum = sync.sum_norm(tasks, sum); });
  return sum;
}

Seconds ExpertSync::extra_pause() const {
  return std::max(dense_sync_->extra_pause(), expert_sync_->extra_pause());
}

std::vector<Unit> ExpertSync::take_units() {
  auto units = dense_sync_->take_units();
  const auto before = static_cast<std::int32_t>(units.size());
  auto expert_units = expert_sync_->take_units();
  std::ranges::move(expert_units, std::back_inserter(units));
  for (const auto id : issued_) (*tasks_)[id].unit += before;
  return units;
}

SyncMemory ExpertSync::memory() const {
  auto sync_memory = dense_sync_->memory();
  const auto expert_memory = expert_sync_->memory();
  if (sync_memory.parameters && expert_memory.parameters)
    *sync_memory.parameters += *expert_memory.parameters;
  const auto dense_parameters = static_cast<double>(dense_.parameter_count());
  const auto expert_parameters = static_cast<double>(experts_.parameter_count());
  sync_memory.optimizer_share =
      (dense_parameters * sync_memory.optimizer_share + expert_parameters * expert_memory.optimizer_share) /
      (dense_parameters + expert_parameters);
  sync_memory.gradients += expert_memory.gradients;
  sync_memory.buckets += expert_memory.buckets;
  sync_memory.first_buckets += expert_memory.first_buckets;
  sync_memory.loading += expert_memory.loading;
  sync_memory.saving += expert_memory.saving;
  sync_memory.kept += expert_memory.kept;
  sync_memory.after_backward += expert_memory.after_backward;
  return sync_memory;
}

std::optional<HeldMemory> ExpertSync::held(const StepMoment& moment) const {
  auto held_memory = dense_sync_->held(moment);
  const auto expert_memory = expert_sync_->held(moment);
  if (!held_memory || !expert_memory) return held_memory;
  held_memory->gradients += expert_memory->gradients;
  held_memory->gathered += expert_memory->gathered;
  return held_memory;
}

}  // namespace gradway
