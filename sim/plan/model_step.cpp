// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_step.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/plan/memory.hpp"
#include "sim/plan/model_tasks.hpp"

namespace gradway {
namespace {

/// The pause before each kernel, where a profile tells it.
std::optional<Seconds> pause_of(const ComputeCosts& costs, const Sync& sync) {
  if (!costs.profile) return std::nullopt;
  return costs.profile->pause + sync.longer_pause();
}

/// Writes the step; its functions stand in the order of the step.
class Writer {
 public:
  Writer(const Scenario& scenario, const ComputeCosts& costs, Sync& sync)
      : scenario_{scenario},
        sync_{sync},
        model_{model_tasks(scenario, costs, pause_of(costs, sync))},
        tasks_{program_, scenario.platform.gpu_models.front(), pause_of(costs, sync)} {
    program_.name = "rank";
    program_.streams = streams_of_a_rank();
  }

  Program run() {
    background_copy();
    sync_.before_step(tasks_);
    for (int micro = 1; micro <= scenario_.job.accumulate; ++micro) {
      const bool is_last = micro == scenario_.job.accumulate;
      forward(is_last);
      backward(micro > 1, is_last);
    }
    sync_.before_optimizer(tasks_);
    for (auto& [task, gradients] : model_.optimizer) tasks_.add(std::move(task));
    program_.samples = static_cast<double>(scenario_.job.batch_per_gpu) * scenario_.job.accumulate;
    program_.memory = memory_use(scenario_, sync_);
    program_.units = sync_.take_units();
    return std::move(program_);
  }

 private:
  void background_copy() {
    const auto bytes = scenario_.job.input.background_copy;
    if (bytes == 0_B) return;
    Task task;
    task.name = "background copy";
    task.work = Copy{.bytes = bytes};
    task.phase = Phase::input;
    task.launch = tasks_.gpu().launch_cost;
    task.stream = side_stream;
    if (tasks_.gpu().ideal) task.after.push_back(step_begins());
    tasks_.add(std::move(task));
  }

  /// A CPU that costs nothing would issue the copies of all steps at once: each waits for its step.
  TaskId step_begins() {
    Task task;
    task.name = "step begins";
    task.work = Wait{};
    task.phase = Phase::input;
    task.stream = compute_stream;
    return tasks_.add(std::move(task));
  }

  void forward(bool is_last) {
    auto layer = Task::none;
    for (auto& [task, gradients] : model_.forward) {
      if (task.layer != layer && task.layer != Task::none) sync_.before_forward(tasks_, task.layer);
      layer = task.layer;
      tasks_.add(is_last ? std::move(task) : task);
    }
  }

  void backward(bool adds_to_gradients, bool is_last) {
    std::size_t next = 0;
    auto layer = Task::none;
    for (auto& [task, gradients] : model_.backward) {
      if (task.layer != layer && task.layer != Task::none) sync_.before_backward(tasks_, task.layer);
      layer = task.layer;
      if (gradients == 0) {
        tasks_.add(is_last ? std::move(task) : task);
        continue;
      }
      tasks_.add(task);
      if (adds_to_gradients) accumulate(next, gradients, task);
      sync_.gradients_ready(tasks_, gradients, task, is_last);
      next += gradients;
    }
  }

  /// A gradient of a later micro-step is added to the one that is there: two read, one written.
  void accumulate(std::size_t first, std::size_t count, const Task& of) {
    if (sizes_.empty()) {
      for (const auto& gradient : gradients_in_order(scenario_.model)) sizes_.push_back(gradient.size);
    }
    Bytes size{};
    for (std::size_t i = first; i < first + count; ++i) size += sizes_[i];
    const auto kernels = static_cast<int>(count);
    const auto id = tasks_.memory_kernels(fmt::format("{} accumulate", of.name), 3 * size, kernels,
                                          tasks_.gpu().launch_cost * kernels);
    tasks_[id].phase = Phase::backward;
    tasks_[id].layer = of.layer;
  }

  const Scenario& scenario_;
  Sync& sync_;
  ModelTasks model_;
  Program program_;
  TaskList tasks_;
  std::vector<Bytes> sizes_;  ///< of the gradients, in the order in which they get ready; filled when needed
};

}  // namespace

Program model_step(const Scenario& scenario, const ComputeCosts& costs, Sync& sync) {
  return Writer{scenario, costs, sync}.run();
}

}  // namespace gradway
