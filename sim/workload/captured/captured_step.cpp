// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/captured/captured_step.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/workload/eager/eager.hpp"
#include "sim/workload/launch_times.hpp"

namespace gradway {
namespace {

constexpr int any_capability = 90;

/// Kernels of one pass of a layer.
void append_kernels(std::vector<Operation>& operations, const std::vector<CapturedOperation>& pass,
                    bool is_backward, double batch, int compute_capability) {
  double of_cpu_alone = 0;  // between two kernels of the layer
  for (const auto& captured : pass) {
    auto issued = kernels_of(captured, batch, compute_capability);
    if (captured.name == "checkpoint") of_cpu_alone += host_share(captured, is_backward);
    const auto share = host_share(captured, is_backward) / static_cast<double>(issued.kernels.size());
    for (auto& kernel : issued.kernels) kernel.host = share;
    if (!issued.kernels.empty()) issued.kernels.front().host += std::exchange(of_cpu_alone, 0);
    operations.insert(operations.end(), std::make_move_iterator(issued.kernels.begin()),
                      std::make_move_iterator(issued.kernels.end()));
  }
  if (!operations.empty()) operations.back().host += of_cpu_alone;
}

Flops work_of(const std::vector<Operation>& operations) {
  Flops sum{};
  for (const auto& operation : operations) sum += operation.flops;
  return sum;
}

StepMemory memory_at(const CapturedStep& captured, double batch) {
  StepMemory step;
  for (const auto& moment : captured.memory) {
    step.activations.push_back(moment.fixed + moment.grows * batch);
    step.gradients.push_back(moment.gradients);
    if (moment.is_backward) continue;
    ++step.forward;
    step.kept.push_back(step.activations.back());
    step.passed_on.emplace_back();
  }
  return step;
}

void issue(Eager& run, const CapturedStep& captured) {
  const auto& settings = run.settings();
  const double batch = static_cast<double>(settings.batch) / captured.batch;
  std::vector<Layer> layers;
  std::vector<LayerOperations> operations;
  for (const auto& from : captured.layers) {
    LayerOperations issued;
    append_kernels(issued.forward, from.forward, false, batch, settings.compute_capability);
    append_kernels(issued.backward, from.backward, true, batch, settings.compute_capability);
    if (!issued.backward.empty())
      issued.backward.back().host += host_share_of_gradient * static_cast<double>(from.parameters.size());
    const auto last = std::find_if(from.forward.rbegin(), from.forward.rend(),
                                   [](const auto& operation) { return operation.name != "checkpoint"; });
    if (last != from.forward.rend() && !last->outputs.empty())
      issued.output = Bytes{last->outputs.front().bytes() * batch};
    Layer layer{.name = from.name, .parameters = from.parameters, .forward = {}, .backward = {}};
    const double samples = settings.batch;
    layer.forward = {work_of(issued.forward) / samples, static_cast<int>(issued.forward.size()), {}};
    layer.backward = {work_of(issued.backward) / samples, static_cast<int>(issued.backward.size()), {}};
    layers.push_back(std::move(layer));
    operations.push_back(std::move(issued));
  }
  run.take_step(std::move(layers), std::move(operations), memory_at(captured, batch));
}

}  // namespace

std::vector<std::string> unknown_operations(const CapturedStep& captured) {
  std::set<std::string> names;
  for (const auto& layer : captured.layers)
    for (const auto* pass : {&layer.forward, &layer.backward})
      for (const auto& operation : *pass)
        if (!kernels_of(operation, 1, any_capability).is_known) names.insert(operation.name);
  return {names.begin(), names.end()};
}

ForwardPass replay_of(std::shared_ptr<const CapturedStep> captured) {
  return [captured = std::move(captured)](Eager& run) {
    const auto sequence = run.settings().sequence;
    const bool is_other = captured->second != nullptr && sequence > 0 && sequence != captured->sequence;
    if (!is_other && !captured->is_compiled) return issue(run, *captured);
    const auto step = is_other ? at_sequence(*captured, sequence) : *captured;
    issue(run, step.is_compiled ? fused_step(step) : step);
  };
}

}  // namespace gradway
