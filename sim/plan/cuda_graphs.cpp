// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/cuda_graphs.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"

namespace gradway {
namespace {

/// Whether a layer's CPU work needs counts of rows that it reads back from the GPU: routed experts.
bool needs_row_counts(const Layer& layer) {
  return layer.role == LayerRole::dispatch || layer.role == LayerRole::experts;
}

class Capture {
 public:
  Capture(const RankScenario& scenario, const ComputeCosts& costs)
      : gpu_{scenario.platform.gpu_models.front()},
        kernels_{costs.profile ? 1 : kernels_of_operation},
        slower_host_{costs.slower_host},
        is_paced_{costs.profile || scenario.model.run} {}

  /// Removes the launch of a task that a graph contains. @return number of its kernels
  double take(Task& task) const {
    double kernels = 0;
    if (auto* kernel = std::get_if<Kernel>(&task.work)) {
      kernels = task.launches * kernels_;
      if (is_paced_ && !gpu_.ideal) shorten_pauses(*kernel, kernels);
    }
    task.launch = {};
    task.launches = 0;
    return kernels;
  }

  /// CPU time of launching a graph. @param is_called whether Python calls it as a function of the model
  Seconds launch(double kernels, bool is_called) const {
    if (gpu_.ideal) return {};
    return slower_host_ *
           (graph_cpu.launch + graph_cpu.node * kernels + (is_called ? graph_cpu.call : Seconds{}));
  }

  const Gpu& gpu() const { return gpu_; }

 private:
  void shorten_pauses(Kernel& kernel, double kernels) const {
    if (kernel.pause > Seconds{}) {  // from a profile
      kernel.pause = std::min(kernel.pause, pause_in_graph);
      return;
    }
    const auto saved = (pause_of_operation / kernels_of_operation - pause_in_graph) * kernels;
    kernel.work = std::max(kernel.work / 2, kernel.work - std::max(Seconds{}, saved));
  }

  const Gpu& gpu_;
  double kernels_;  ///< for each launch
  double slower_host_;
  bool is_paced_;  ///< whether kernels have pauses between them
};

/// Finds runs of tasks that one graph can capture.
class CaptureRuns {
 public:
  CaptureRuns(std::vector<ModelTask>& pass, const RankScenario& scenario, bool by_block)
      : pass_{pass}, scenario_{scenario}, by_block_{by_block} {}

  /// The next run at or after `position`; empty at the end of the pass.
  std::pair<std::size_t, std::size_t> next(std::size_t position) const {
    while (position < pass_.size() && !is_capturable(pass_[position])) ++position;
    auto end = position;
    while (end < pass_.size() && (!by_block_ || pass_[end].block == pass_[position].block) &&
           is_capturable(pass_[end]))
      ++end;
    return {position, end};
  }

 private:
  bool is_capturable(const ModelTask& model_task) const {
    if ((by_block_ && model_task.block == Blocks::none) || model_task.is_once || model_task.task.host_waits)
      return false;
    const bool on_gpu = std::holds_alternative<Kernel>(model_task.task.work) ||
                        std::holds_alternative<Call>(model_task.task.work);
    if (!on_gpu || model_task.task.layer == Task::none || !scenario_.model.run) return on_gpu;
    const auto& layer = scenario_.model.layers[static_cast<std::size_t>(model_task.task.layer)];
    return !(waits_for_row_counts(scenario_.job) && needs_row_counts(layer));
  }

  std::vector<ModelTask>& pass_;
  const RankScenario& scenario_;
  bool by_block_;  ///< a graph for each block; else for the whole pass
};

void capture_pass(std::vector<ModelTask>& pass, const RankScenario& scenario, const ComputeCosts& costs,
                  bool by_block) {
  const Capture capture{scenario, costs};
  const CaptureRuns runs{pass, scenario, by_block};
  for (auto [first, end] = runs.next(0); first < pass.size(); std::tie(first, end) = runs.next(end)) {
    double kernels = 0;
    std::size_t gradients = 0;
    std::size_t last = first;
    for (auto i = first; i < end; ++i) {
      kernels += capture.take(pass[i].task);
      gradients += std::exchange(pass[i].gradients, 0);
      if (std::holds_alternative<Kernel>(pass[i].task.work)) last = i;
    }
    pass[last].gradients = gradients;
    auto& begins = pass[first].task;
    begins.launch = capture.launch(kernels, true);
    begins.launches = 1;
    // The output of the block before, or its gradient, is copied into the input buffer of the graph.
    auto* kernel = std::get_if<Kernel>(&begins.work);
    const auto layer = pass[first].task.layer;
    if (kernel == nullptr || layer == Task::none || costs.outputs.empty()) continue;
    const auto output_layer = begins.phase == Phase::forward && layer > 0 ? layer - 1 : layer;
    const auto handed_on = costs.outputs[static_cast<std::size_t>(output_layer)];
    kernel->work += memory_time(2 * handed_on, capture.gpu());
  }
}

}  // namespace

void capture_layers(ModelTasks& model, const RankScenario& scenario, const ComputeCosts& costs,
                    bool by_block) {
  for (auto* pass : {&model.forward, &model.recomputed, &model.backward})
    capture_pass(*pass, scenario, costs, by_block);
}

void capture_step(Program& program, std::size_t end, const RankScenario& scenario,
                  const ComputeCosts& costs) {
  const Capture capture{scenario, costs};
  Task* first = nullptr;
  double kernels = 0;
  for (std::size_t i = 0; i < end; ++i) {
    auto& task = program.tasks[i];
    if (task.phase == Phase::input || std::holds_alternative<Copy>(task.work)) continue;
    kernels += capture.take(task);
    if (first == nullptr) first = &task;
  }
  if (first == nullptr) return;
  first->launch = capture.launch(kernels, false);
  first->launches = 1;
}

}  // namespace gradway
