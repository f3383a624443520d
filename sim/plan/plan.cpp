// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/plan/buckets.hpp"
#include "sim/plan/collective_step.hpp"
#include "sim/plan/comm_hooks.hpp"
#include "sim/plan/step_program.hpp"
#include "sim/plan/task_list.hpp"

namespace gradway {
namespace {

// A step starts with the lead that the CPU won in the ones before: the first has none, and two alike must
// follow.
constexpr int least_steps = 3;

/// The pause before each kernel, where a profile tells it.
std::optional<Seconds> pause_of(const Scenario& scenario, const ComputeCosts& costs) {
  if (!costs.profile) return std::nullopt;
  const auto hook = scenario.job.strategy.comm_hook;
  const bool many_streams = hook == CommHook::fp16 || hook == CommHook::bf16;
  return costs.profile->pause + (many_streams ? pause_of_many_streams : Seconds{});
}

/// Writes one step; its functions stand in the order of the step.
class Planner {
 public:
  Planner(const Scenario& scenario, const ComputeCosts& costs)
      : scenario_{scenario},
        program_{step_program(scenario, costs, pause_of(scenario, costs))},
        tasks_{graph_, scenario.platform.gpu_models.front(), pause_of(scenario, costs)} {
    graph_.ranks = scenario.job.gpus;
    graph_.steps = scenario.job.steps;
    if (scenario.job.strategy.kind == StrategyKind::ddp) {
      graph_.buckets = ddp_buckets(scenario.model, scenario.job.strategy.bucket_cap);
    }
  }

  WorkloadGraph run() {
    background_copy();
    if (!graph_.buckets.empty()) broadcast_buffers();
    for (int micro = 1; micro <= scenario_.job.accumulate; ++micro) {
      for (const auto& [task, gradients] : program_.forward) tasks_.add(task);
      const bool last = micro == scenario_.job.accumulate;
      backward(micro > 1, last && !graph_.buckets.empty());
    }
    copy_back();
    for (const auto& [task, gradients] : program_.optimizer) tasks_.add(task);
    reach_steady_state();
    return std::move(graph_);
  }

 private:
  const Gpu& gpu() const { return tasks_.gpu(); }

  /// As many steps as show the steady state at best. Prefetches fall into the steps by which the CPU can be
  /// ahead, and those of the steps behind the reported one into that.
  void reach_steady_state() {
    graph_.starts_steady = gpu().ideal;
    if (gpu().ideal) return;
    if (scenario_.job.input.background_copy > 0_B) {
      int launches = 0;
      for (const auto& task : graph_.tasks) launches += task.stream == Stream::compute ? task.launches : 0;
      graph_.after_reported = (launch_queue_depth + launches - 1) / std::max(1, launches) + 1;
    }
    graph_.steps = std::max(graph_.steps, least_steps + graph_.after_reported) + graph_.after_reported;
  }

  void background_copy() {
    const auto bytes = scenario_.job.input.background_copy;
    if (bytes == 0_B) return;
    Task task;
    task.name = "background copy";
    task.kind = TaskKind::copy_in;
    task.activity = Activity::copy;
    task.phase = Phase::input;
    task.bytes = bytes;
    task.launch = gpu().launch_cost;
    task.stream = Stream::own;
    tasks_.add(std::move(task));
  }

  /// DDP starts a forward pass by sending rank 0's buffers (running means and variances, counts) to all:
  /// those of a type in one flat tensor, each copied back by a kernel of its own.
  /// @source torch/nn/parallel/distributed.py, _sync_module_buffers, PyTorch 2.11
  void broadcast_buffers() {
    if (!scenario_.model.profile) return;
    std::map<int, std::pair<int, Bytes>> types;  // by bytes an element: how many, how large
    for (const auto& buffer : scenario_.model.profile->buffers) {
      auto& [count, size] = types[buffer.element_bytes];
      ++count;
      size += Bytes{buffer.element_bytes * static_cast<double>(elements_of(buffer.shape))};
    }
    for (const auto& [width, type] : types) {
      const auto& [count, size] = type;
      const auto flat = memory_kernels("buffers into one", 2 * size, 1, gpu().launch_cost);
      const auto sent = tasks_.collective(CollectiveKind::broadcast, "broadcast of buffers", size, flat);
      const auto back = memory_kernels("buffers back", 2 * size, count, tasks_.cpu(ddp_cpu.buffer) * count);
      tasks_[back].after.push_back(sent);
    }
  }

  void backward(bool adds_to_gradients, bool reduces) {
    std::size_t next = 0;
    for (const auto& [task, gradients] : program_.backward) {
      tasks_.add(task);
      if (gradients == 0) continue;
      if (adds_to_gradients) accumulate(next, gradients, task);
      if (reduces) fill_buckets(gradients, task);
      next += gradients;
    }
  }

  /// A gradient of a later micro-step is added to the one that is there: two read, one written.
  void accumulate(std::size_t first, std::size_t count, const Task& of) {
    if (sizes_.empty()) {
      for (const auto& bucket : ddp_buckets(scenario_.model, std::nullopt))
        for (const auto& gradient : bucket.gradients) sizes_.push_back(gradient.size);
    }
    Bytes size{};
    for (std::size_t i = first; i < first + count; ++i) size += sizes_[i];
    const auto kernels = static_cast<int>(count);
    memory_kernels(fmt::format("{} accumulate", of.name), 3 * size, kernels, gpu().launch_cost * kernels);
    tasks_[tasks_.last()].phase = Phase::backward;
    tasks_[tasks_.last()].layer = of.layer;
  }

  /// Memory-bound kernels of DDP.
  TaskId memory_kernels(std::string name, Bytes traffic, int kernels, Seconds launch) {
    const auto id =
        tasks_.kernel(std::move(name), Phase::communication, tasks_.memory(traffic, kernels), kernels);
    tasks_[id].launch = launch;
    return id;
  }

  /// Copies the next gradients into their buckets, one kernel each, dividing by the number of ranks on the
  /// way, and reduces each bucket that is full.
  void fill_buckets(std::size_t count, const Task& of) {
    while (count > 0) {
      const auto bucket = reduced_.size();
      const auto& open = graph_.buckets[bucket];
      const auto take = std::min(count, open.gradients.size() - filled_);
      Bytes size{};
      for (std::size_t i = 0; i < take; ++i) size += open.gradients[filled_ + i].size;
      const auto kernels = static_cast<int>(take);
      const auto id = memory_kernels(fmt::format("{} into bucket {}", of.name, bucket), 2 * size, kernels,
                                     tasks_.cpu(ddp_cpu.gradient) * kernels);
      tasks_[id].layer = of.layer;
      tasks_[id].bucket = static_cast<std::int32_t>(bucket);
      count -= take;
      filled_ += take;
      if (filled_ < open.gradients.size()) continue;
      graph_.buckets[bucket].filled_by = static_cast<std::int32_t>(id.index());
      const ReadyBucket ready{scenario_.model, open, static_cast<std::int32_t>(bucket), scenario_.job.gpus};
      reduced_.push_back(reduce_bucket(tasks_, ready, scenario_.job.strategy));
      for (auto i = id.index(); i < graph_.tasks.size(); ++i)
        graph_.tasks[i].bucket = static_cast<std::int32_t>(bucket);
      filled_ = 0;
    }
  }

  /// DDP ends the backward pass by waiting for each bucket in turn; without views the means go back to the
  /// gradients, with views each gradient is set to its place in the bucket.
  void copy_back() {
    const bool views = scenario_.job.strategy.gradient_as_bucket_view;
    const bool hook = scenario_.job.strategy.comm_hook != CommHook::none;
    const auto after_each = !views ? ddp_cpu.copy_back : hook ? ddp_cpu.view_of_hook : ddp_cpu.view;
    for (std::size_t i = 0; i < reduced_.size(); ++i) {
      const auto& bucket = graph_.buckets[i];
      const auto gradients = static_cast<int>(bucket.gradients.size());
      const auto id = memory_kernels(fmt::format("bucket {} {}", i, views ? "wait" : "back to gradients"),
                                     views ? 0_B : 2 * bucket.size, views ? 0 : gradients,
                                     tasks_.cpu(after_each) * gradients);
      tasks_[id].after.push_back(reduced_[i]);
      tasks_[id].bucket = static_cast<std::int32_t>(i);
    }
  }

  const Scenario& scenario_;
  StepProgram program_;
  WorkloadGraph graph_;
  TaskList tasks_;
  std::vector<Bytes> sizes_;  ///< of the gradients, in the order in which they get ready; filled when needed
  std::size_t filled_ = 0;    ///< gradients of the open bucket that are in place
  std::vector<TaskId> reduced_;  ///< by bucket that was closed
};

}  // namespace

WorkloadGraph plan(const Scenario& scenario, const ComputeCosts& costs) {
  if (scenario.job.strategy.kind == StrategyKind::collective) return plan_collective(scenario);
  return Planner{scenario, costs}.run();
}

}  // namespace gradway
