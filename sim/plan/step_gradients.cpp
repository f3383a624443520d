// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/step_gradients.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"

namespace gradway {

void StepGradients::accumulate(std::size_t first, std::size_t count, const Task& maker) {
  if (sizes_.empty()) {
    for (const auto& gradient : gradients_in_order(rank_.model)) sizes_.push_back(gradient.size);
  }
  Bytes size{};
  for (std::size_t i = first; i < first + count; ++i) size += sizes_[i];
  if (has_half_states(rank_.job)) size = size / 2;
  size = size * sync_.accumulation_traffic();
  const auto kernels = static_cast<int>(count);
  const auto launch = tasks_.hook(gradient_addition, kernels);
  if (rank_.job.layout.pipeline > 1) {
    Task task;
    task.work = Kernel{.work = tasks_.memory(size, kernels)};
    task.launch = launch;
    task.launches = kernels;
    return passes_.merge(task);
  }
  const auto id = tasks_.memory_kernels(fmt::format("{} accumulate", maker.name), size, kernels, launch);
  tasks_[id].phase = Phase::backward;
  tasks_[id].layer = maker.layer;
}

void StepGradients::hand_over(std::size_t first_of, std::size_t count_of, const Task& maker) {
  ready_.push_back({first_of, count_of, &maker});
  for (;;) {
    const auto next = std::ranges::find(ready_, handed_over_, &ReadyGradients::first);
    if (next == ready_.end()) return;
    const auto [first, count, task] = *next;
    ready_.erase(next);
    handed_over_ += count;
    sync_.gradients_ready(tasks_, count, *task, true);
  }
}

void StepGradients::reduce_replicated() {
  if (!rank_.job.layout.sequence || rank_.job.layout.tensor == 1) return;
  constexpr auto of_tensor = static_cast<std::size_t>(RankGroup::tensor);
  const bool at_once = rank_.job.framework == Framework::megatron;
  constexpr int times = 3;
  std::vector<Bytes> sizes;
  for (std::size_t i = 0; i < rank_.model.layers.size(); ++i) {
    const auto& rank_parameters = rank_.model.layers[i].parameters;
    const auto& whole_parameters = whole_.layers[static_cast<std::size_t>(part_->part.layers[i])].parameters;
    const bool is_shared = rank_parameters.size() == whole_parameters.size() && !rank_parameters.empty() &&
                           rank_parameters.front().shape != whole_parameters.front().shape;
    for (const auto& parameter : rank_parameters) {
      const bool is_vector = parameter.shape.size() == 1;
      const bool is_whole =
          std::ranges::find(whole_parameters, parameter.shape, &Parameter::shape) != whole_parameters.end();
      const bool is_router = rank_.model.layers[i].role == LayerRole::router;
      if (!(is_vector || is_router) || !is_whole || (is_shared && !at_once)) continue;
      sizes.insert(sizes.end(), at_once ? 1 : times,
                   Bytes{fp32_bytes * static_cast<double>(parameter.elements())});
    }
  }
  if (at_once && !sizes.empty()) sizes = {std::accumulate(sizes.begin(), sizes.end(), Bytes{})};
  const auto ready = tasks_.wait("gradients of norms", Phase::communication, {});
  std::vector<TaskId> reduced;
  for (const auto size : sizes) {
    reduced.push_back(tasks_.call({CollectiveKind::all_reduce, size, part_->slots[of_tensor]},
                                  passes_.stream(RankGroup::tensor), "all-reduce of gradients of norms",
                                  tasks_.cpu(ddp_cpu.all_reduce) +
                                      (at_once ? Seconds{} : costs_.operation * dtensor_cpu.redistribution),
                                  ready));
  }
  const auto done = tasks_.wait("gradients of norms are reduced", Phase::communication, {});
  tasks_[done].after = std::move(reduced);
}

void StepGradients::average_micro_batches() {
  const auto& job = rank_.job;
  if (job.layout.pipeline == 1 || job.framework != Framework::pytorch || job.accumulate == 1 ||
      sync_.own_gradients())
    return;
  Bytes size{};
  const auto gradients = gradients_in_order(rank_.model);
  for (const auto& gradient : gradients) size += gradient.size;
  const auto kernels = static_cast<int>(gradients.size());
  if (kernels == 0) return;
  const auto launch = tasks_.hook(call_in_place, kernels);
  const auto id = tasks_.memory_kernels("gradients averaged", 2 * size, kernels, launch);
  tasks_[id].phase = Phase::optimizer;
}

}  // namespace gradway
