// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_step.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/plan/clipping.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/model_tasks.hpp"

namespace gradway {
namespace {

/// The pause before each kernel, where a profile tells it.
std::optional<Seconds> pause_of(const ComputeCosts& costs, const Sync& sync) {
  if (!costs.profile) return std::nullopt;
  return costs.profile->pause + sync.longer_pause();
}

/// Where in the model a task stands.
struct Spot {
  std::int32_t block = Blocks::none;
  std::int32_t layer = Task::none;

  /// Leaves layer and block if the next task is in others, and enters those.
  template <class Leave, class Enter>
  void go_to(Spot next, const Leave& leave, const Enter& enter) {
    const bool other_block = next.block != block;
    const bool other_layer = other_block || next.layer != layer;
    if (other_layer && layer != Task::none) leave(Module{Module::Kind::layer, layer});
    if (other_block && block != Blocks::none) leave(Module{Module::Kind::block, block});
    if (other_block && next.block != Blocks::none) enter(Module{Module::Kind::block, next.block});
    if (other_layer && next.layer != Task::none) enter(Module{Module::Kind::layer, next.layer});
    *this = next;
  }
};

/// Writes the step; its functions stand in the order of the step.
class Writer {
 public:
  Writer(const Scenario& scenario, const ComputeCosts& costs, Sync& sync)
      : scenario_{scenario},
        costs_{costs},
        sync_{sync},
        blocks_{scenario.job.recomputes && sync.blocks() == nullptr ? std::optional{blocks_of(scenario.model)}
                                                                    : std::nullopt},
        model_{model_tasks(scenario, costs, pause_of(costs, sync), blocks_ ? &*blocks_ : sync.blocks())},
        tasks_{program_, scenario.platform.gpu_models.front(), pause_of(costs, sync), costs.launch} {
    program_.name = "rank";
    program_.streams = streams_of_a_rank();
  }

  Program run() {
    background_copy();
    sync_.before_step(tasks_);
    for (int micro = 1; micro <= scenario_.job.accumulate; ++micro) {
      const bool is_last = micro == scenario_.job.accumulate;
      sync_.before_micro_step(tasks_, {micro - 1, is_last});
      forward(is_last);
      backward(micro > 1, is_last);
    }
    sync_.before_optimizer(tasks_);
    if (scenario_.job.clip_grad_norm) clip_gradients(tasks_, scenario_, costs_, sync_);
    for (auto& [task, gradients, block] : model_.optimizer) tasks_.add(std::move(task));
    sync_.after_optimizer(tasks_);
    program_.samples = static_cast<double>(scenario_.job.batch_per_gpu) * scenario_.job.accumulate;
    program_.memory = memory_use(scenario_, costs_.memory, sync_);
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
    Spot place;
    bool begun = false;
    for (auto& [task, gradients, block] : model_.forward) {
      if (!begun && !std::holds_alternative<Copy>(task.work)) {
        sync_.before_forward(tasks_, Module{});
        begun = true;
      }
      const auto leave = [&](Module module) { sync_.after_forward(tasks_, module); };
      place.go_to({block, task.layer}, leave, [&](Module module) { sync_.before_forward(tasks_, module); });
      tasks_.add(is_last && !scenario_.job.recomputes ? std::move(task) : task);
    }
    place.go_to(
        {}, [&](Module module) { sync_.after_forward(tasks_, module); }, [](Module) {});
    sync_.after_forward(tasks_, Module{});
  }

  void backward(bool adds_to_gradients, bool is_last) {
    Spot place;
    std::size_t next = 0;
    sync_.before_backward(tasks_, Module{});
    const auto leave = [&](Module module) { sync_.after_backward(tasks_, module); };
    const auto enter = [&](Module module) {
      sync_.before_backward(tasks_, module);
      if (scenario_.job.recomputes && module.kind == Module::Kind::block) recompute(module.index);
    };
    for (auto& [task, gradients, block] : model_.backward) {
      place.go_to({block, task.layer}, leave, enter);
      if (gradients == 0) {
        tasks_.add(is_last ? std::move(task) : task);
        continue;
      }
      tasks_.add(task);
      if (adds_to_gradients && sync_.keeps_gradients()) accumulate(next, gradients, task);
      sync_.gradients_ready(tasks_, gradients, task, is_last);
      next += gradients;
    }
    place.go_to({}, leave, enter);
    sync_.after_backward(tasks_, Module{});
  }

  /// The forward pass of a block once more.
  void recompute(std::int32_t of_block) {
    for (const auto& [task, gradients, block] : model_.forward) {
      if (block != of_block) continue;
      const auto id = tasks_.add(task);
      tasks_[id].phase = Phase::backward;
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
  const ComputeCosts& costs_;
  Sync& sync_;
  std::optional<Blocks> blocks_;  ///< if they matter, and the strategy has not found them
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
