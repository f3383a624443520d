// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/plan.hpp"

#include <fmt/format.h>

#include "sim/cost/kernel_cost.hpp"
#include "sim/plan/buckets.hpp"
#include "sim/plan/comm_hooks.hpp"
#include "sim/plan/task_list.hpp"

namespace gradway {
namespace {

/// Writes one step; its functions stand in the order of the step.
class Planner {
 public:
  Planner(const Scenario& scenario, const ComputeCosts& costs)
      : scenario_{scenario}, costs_{costs}, tasks_{graph_, scenario.platform.gpu_models.front()} {
    graph_.ranks = scenario.job.gpus;
    graph_.steps = scenario.job.steps;
    if (scenario.job.strategy.kind == StrategyKind::ddp) {
      graph_.buckets = ddp_buckets(scenario.model, scenario.job.strategy.bucket_cap);
    }
  }

  WorkloadGraph run() {
    background_copy();
    for (int micro = 1; micro <= scenario_.job.accumulate; ++micro) {
      input_copy();
      forward();
      const bool last = micro == scenario_.job.accumulate;
      backward(micro > 1, last && !graph_.buckets.empty());
    }
    copy_back();
    optimizer();
    return std::move(graph_);
  }

 private:
  const Gpu& gpu() const { return tasks_.gpu(); }

  Task copy(std::string name, Bytes bytes) const {
    Task task;
    task.name = std::move(name);
    task.kind = TaskKind::copy_in;
    task.activity = Activity::copy;
    task.phase = Phase::input;
    task.bytes = bytes;
    task.launch = gpu().launch_cost;
    return task;
  }

  void background_copy() {
    const auto bytes = scenario_.job.input.background_copy;
    if (bytes == 0_B) return;
    auto task = copy("background copy", bytes);
    task.stream = Stream::own;
    tasks_.add(std::move(task));
  }

  void input_copy() {
    const auto bytes = scenario_.model.input_per_sample * scenario_.job.batch_per_gpu;
    if (bytes == 0_B) return;
    auto task = copy("input copy", bytes);
    task.pinned = scenario_.job.input.pin_memory;
    task.host_waits = !task.pinned;  // a copy from pageable memory returns when it is done
    tasks_.add(std::move(task));
  }

  void forward() {
    const auto& layers = scenario_.model.layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto id =
          tasks_.kernel(layers[i].name, Phase::forward, costs_.forward[i], layers[i].forward.kernels);
      tasks_[id].layer = static_cast<std::int32_t>(i);
    }
  }

  void backward(bool adds_to_gradients, bool reduces) {
    const auto& layers = scenario_.model.layers;
    std::size_t bucket = 0;
    std::size_t filled = 0;
    for (auto i = layers.size(); i-- > 0;) {
      const auto& layer = layers[i];
      const auto id = tasks_.kernel(layer.name, Phase::backward, costs_.backward[i], layer.backward.kernels);
      tasks_[id].layer = static_cast<std::int32_t>(i);
      if (layer.parameters.empty()) continue;
      if (adds_to_gradients) per_gradient("accumulate", 12, Phase::backward, i, layer.parameters.size());
      if (!reduces) continue;
      fill_buckets(i, bucket, filled);
    }
  }

  /// One memory-bound kernel for each of a layer's parameters.
  void per_gradient(const char* what, double bytes_an_element, Phase phase, std::size_t layer,
                    std::size_t tensors) {
    const auto elements = static_cast<double>(scenario_.model.layers[layer].parameter_count());
    memory_kernels(fmt::format("{} {}", scenario_.model.layers[layer].name, what), phase,
                   Bytes{bytes_an_element * elements}, tensors, layer);
  }

  void memory_kernels(std::string name, Phase phase, Bytes traffic, std::size_t kernels, std::size_t layer) {
    const auto count = static_cast<int>(kernels);
    const auto id = tasks_.kernel(std::move(name), phase,
                                  memory_time(traffic, gpu(), MemoryPattern::stream, count), count);
    tasks_[id].layer = static_cast<std::int32_t>(layer);
  }

  /// Copies the gradients of a layer into their buckets, dividing by the number of ranks on the way, and
  /// reduces each bucket that is full. A layer's gradients may end one bucket and begin the next.
  void fill_buckets(std::size_t layer, std::size_t& bucket, std::size_t& filled) {
    for (auto left = scenario_.model.layers[layer].parameters.size(); left > 0;) {
      const auto& open = graph_.buckets[bucket];
      const auto take = std::min(left, open.gradients.size() - filled);
      Bytes size{};
      for (std::size_t i = 0; i < take; ++i) size += open.gradients[filled + i].size;
      memory_kernels(fmt::format("{} into bucket {}", scenario_.model.layers[layer].name, bucket),
                     Phase::communication, 2 * size, take, layer);
      left -= take;
      filled += take;
      if (filled < open.gradients.size()) continue;
      const ReadyBucket ready{scenario_.model, open, static_cast<std::int32_t>(bucket), scenario_.job.gpus};
      reduced_.push_back(reduce_bucket(tasks_, ready, scenario_.job.strategy));
      ++bucket;
      filled = 0;
    }
  }

  /// DDP ends the backward pass by waiting for each bucket in turn; without views the means go back to the
  /// gradients.
  void copy_back() {
    for (std::size_t i = 0; i < reduced_.size(); ++i) {
      const auto& bucket = graph_.buckets[i];
      const bool views = scenario_.job.strategy.gradient_as_bucket_view;
      const auto kernels = views ? 0 : static_cast<int>(bucket.gradients.size());
      const auto traffic = views ? 0_B : 2 * bucket.size;
      const auto id = tasks_.kernel(fmt::format("bucket {} {}", i, views ? "wait" : "back to gradients"),
                                    Phase::communication,
                                    memory_time(traffic, gpu(), MemoryPattern::stream, kernels), kernels);
      tasks_[id].after.push_back(reduced_[i]);
      tasks_[id].bucket = static_cast<std::int32_t>(i);
    }
  }

  void optimizer() {
    const auto id = tasks_.kernel("optimizer", Phase::optimizer, costs_.optimizer, 0);
    if (!gpu().ideal) {
      tasks_[id].launch = optimizer_launch_time(scenario_.job.optimizer, scenario_.model.parameter_tensors());
    }
  }

  const Scenario& scenario_;
  const ComputeCosts& costs_;
  WorkloadGraph graph_;
  TaskList tasks_;
  std::vector<TaskId> reduced_;
};

}  // namespace

WorkloadGraph plan(const Scenario& scenario, const ComputeCosts& costs) {
  return Planner{scenario, costs}.run();
}

}  // namespace gradway
