// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/expert_sync.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gradway {
namespace {

Partition all_of(const char* name) {
  return {name, [](int) { return 0; }};
}

}  // namespace

ExpertSync::ExpertSync(const RankScenario& scenario, const Model& whole,
                       const std::vector<std::int32_t>& layers)
    : others_{with_parameters(scenario.model, false)},
      experts_{with_parameters(scenario.model, true)},
      of_others_{make_sync({scenario, others_, scenario.job.replicas()})},
      of_experts_{make_sync({scenario, experts_, scenario.job.expert_replicas()})} {
  gradients_.resize(whole.layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& layer = scenario.model.layers[i];
    gradients_[static_cast<std::size_t>(layers[i])] = {layer.parameters.size(), layer.is_of_experts};
  }
}

std::vector<Partition> ExpertSync::groups() const {
  auto groups = of_others_->groups();
  if (groups.empty()) groups.push_back(all_of("all ranks"));
  auto of_experts = of_experts_->groups();
  if (of_experts.empty()) of_experts.push_back(all_of("all ranks"));
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
  action(*of_experts_);
  tasks.take_route(before);
  for (auto i = first; i < tasks.size(); ++i)
    if (tasks[TaskId{i}].unit != Task::none) issued_.emplace_back(i);
}

void ExpertSync::before_step(TaskList& tasks) {
  tasks_ = &tasks;
  auto others = of_others_->groups().size();
  route_ = {static_cast<std::uint32_t>(std::max<std::size_t>(1, others)),
            tasks.add_stream("communicator of experts")};
  of_others_->before_step(tasks);
  for_experts(tasks, [&](Sync& sync) { sync.before_step(tasks); });
}

void ExpertSync::before_micro_step(TaskList& tasks, MicroStep step) {
  of_others_->before_micro_step(tasks, step);
  for_experts(tasks, [&](Sync& sync) { sync.before_micro_step(tasks, step); });
}

void ExpertSync::before_forward(TaskList& tasks, Module module) {
  of_others_->before_forward(tasks, module);
  for_experts(tasks, [&](Sync& sync) { sync.before_forward(tasks, module); });
}

void ExpertSync::after_forward(TaskList& tasks, Module module) {
  for_experts(tasks, [&](Sync& sync) { sync.after_forward(tasks, module); });
  of_others_->after_forward(tasks, module);
}

void ExpertSync::before_backward(TaskList& tasks, Module module) {
  of_others_->before_backward(tasks, module);
  for_experts(tasks, [&](Sync& sync) { sync.before_backward(tasks, module); });
}

void ExpertSync::after_backward(TaskList& tasks, Module module) {
  for_experts(tasks, [&](Sync& sync) { sync.after_backward(tasks, module); });
  of_others_->after_backward(tasks, module);
}

void ExpertSync::before_recompute(TaskList& tasks, Module module) {
  of_others_->before_recompute(tasks, module);
  for_experts(tasks, [&](Sync& sync) { sync.before_recompute(tasks, module); });
}

void ExpertSync::after_recompute(TaskList& tasks, Module module) {
  for_experts(tasks, [&](Sync& sync) { sync.after_recompute(tasks, module); });
  of_others_->after_recompute(tasks, module);
}

/// A CUDA graph makes the gradients of several layers, of which its last task names the last one, with the
/// smallest number.
void ExpertSync::gradients_ready(TaskList& tasks, std::size_t count, const Task& of, bool is_last) {
  std::vector<Gradients> runs;
  std::size_t found = 0;
  for (auto layer = static_cast<std::size_t>(of.layer); found < count; ++layer) {
    const auto& own = gradients_[layer];
    if (own.count == 0) continue;
    if (runs.empty() || runs.back().is_of_experts != own.is_of_experts)
      runs.push_back({0, own.is_of_experts});
    runs.back().count += own.count;
    found += own.count;
  }
  std::ranges::reverse(runs);
  for (const auto& run : runs) {
    const auto give = [&](Sync& sync) { sync.gradients_ready(tasks, run.count, of, is_last); };
    if (run.is_of_experts) {
      for_experts(tasks, give);
    } else {
      give(*of_others_);
    }
  }
}

void ExpertSync::before_optimizer(TaskList& tasks) {
  of_others_->before_optimizer(tasks);
  for_experts(tasks, [&](Sync& sync) { sync.before_optimizer(tasks); });
}

void ExpertSync::after_optimizer(TaskList& tasks) {
  of_others_->after_optimizer(tasks);
  for_experts(tasks, [&](Sync& sync) { sync.after_optimizer(tasks); });
}

std::optional<OwnGradients> ExpertSync::own_gradients() const {
  auto all = of_others_->own_gradients();
  const auto more = of_experts_->own_gradients();
  if (!all || !more) return std::nullopt;
  all->size += more->size;
  return all;
}

TaskId ExpertSync::sum_norm(TaskList& tasks, TaskId norm) {
  auto sum = of_others_->sum_norm(tasks, norm);
  for_experts(tasks, [&](Sync& sync) { sum = sync.sum_norm(tasks, sum); });
  return sum;
}

Seconds ExpertSync::longer_pause() const {
  return std::max(of_others_->longer_pause(), of_experts_->longer_pause());
}

std::vector<Unit> ExpertSync::take_units() {
  auto units = of_others_->take_units();
  const auto before = static_cast<std::int32_t>(units.size());
  auto more = of_experts_->take_units();
  std::ranges::move(more, std::back_inserter(units));
  for (const auto id : issued_) (*tasks_)[id].unit += before;
  return units;
}

MemoryOfSync ExpertSync::memory() const {
  auto all = of_others_->memory();
  const auto more = of_experts_->memory();
  if (all.parameters && more.parameters) *all.parameters += *more.parameters;
  const auto here = static_cast<double>(others_.parameter_count());
  const auto there = static_cast<double>(experts_.parameter_count());
  all.optimizer_share = (here * all.optimizer_share + there * more.optimizer_share) / (here + there);
  all.gradients += more.gradients;
  all.buckets += more.buckets;
  all.first_buckets += more.first_buckets;
  all.kept += more.kept;
  all.after_backward += more.after_backward;
  return all;
}

std::optional<HeldBySync> ExpertSync::held(const MomentOfStep& moment) const {
  auto all = of_others_->held(moment);
  const auto more = of_experts_->held(moment);
  if (!all || !more) return all;
  all->gradients += more->gradients;
  all->gathered += more->gathered;
  return all;
}

}  // namespace gradway
