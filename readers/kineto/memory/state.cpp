// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/memory/step_memory.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "readers/kineto/memory/checkpoint_calls.hpp"
#include "readers/kineto/work/operation_work.hpp"

namespace gradway {
namespace {

constexpr int fp32_bytes = 4;
constexpr int count_bytes = 8;

/// Operations with this name that begin in a step, in order.
std::vector<const TracedOperation*> operations_of(const Trace& trace, const TracedStep& step,
                                                  std::string_view name) {
  std::vector<const TracedOperation*> operations;
  for (const auto& operation : trace.operations) {
    if (operation.start >= step.begin && operation.start < step.end &&
        trace.signatures[operation.signature].name == name)
      operations.push_back(&operation);
  }
  std::ranges::sort(operations, {}, &TracedOperation::start);
  return operations;
}

std::vector<std::int64_t> shape_of(const Operand& operand) {
  return operand.shapes.empty() ? std::vector<std::int64_t>{} : operand.shapes.front();
}

int bytes_of(const Operand& operand) {
  const int bytes = element_bytes(operand.type);
  return bytes == 0 ? fp32_bytes : bytes;
}

/// Gradients of the inputs of layers that a reentrant torch.utils.checkpoint recomputes: it detaches them, so
/// that they get gradients as parameters do. After the last of these only other gradients follow; that of
/// another input has as many dimensions as an activation, which no weight of the same sizes has.
std::set<const TracedOperation*> gradients_of_inputs(
    const Trace& trace, const TracedStep& step, const std::vector<const TracedOperation*>& accumulations) {
  const auto calls = operations_of(trace, step, "CheckpointFunction");
  std::set<const TracedOperation*> gradients;
  for (const auto* node : reentrant_nodes(trace, step)) {
    const auto call = std::ranges::find(calls, node->sequence, &TracedOperation::sequence);
    if (call == calls.end()) continue;
    std::int64_t last_node = 0;
    for (const auto& operation : trace.operations) {
      if (operation.thread == node->thread && operation.start > node->start &&
          operation.end() <= node->end() && operation.sequence > 0 && is_node(trace, operation))
        last_node = std::max(last_node, operation.start);
    }
    for (const auto& operand : trace.signatures[(*call)->signature].operands) {
      const auto shape = shape_of(operand);
      const auto of_input = std::find_if(
          accumulations.rbegin(), accumulations.rend(), [&](const TracedOperation* accumulation) {
            const auto& operands = trace.signatures[accumulation->signature].operands;
            return accumulation->thread == node->thread && accumulation->start > node->start &&
                   accumulation->end() <= node->end() && !operands.empty() &&
                   shape_of(operands.front()) == shape && operands.front().type == operand.type &&
                   (shape.size() > 2 || accumulation->start > last_node);
          });
      if (!shape.empty() && of_input != accumulations.rend()) gradients.insert(*of_input);
    }
  }
  return gradients;
}

}  // namespace

std::vector<ProfiledGradient> find_gradients(const Trace& trace, const TracedStep& step,
                                             std::int64_t parameters) {
  const auto accumulations = operations_of(trace, step, "torch::autograd::AccumulateGrad");
  const auto of_inputs = gradients_of_inputs(trace, step, accumulations);
  std::vector<ProfiledGradient> gradients;
  for (const auto* operation : accumulations) {
    const auto& operands = trace.signatures[operation->signature].operands;
    if ((operands.empty() && trace.has_shapes) || of_inputs.contains(operation)) continue;
    const auto after = std::ranges::lower_bound(
        step.launches, operation->end(), {}, [](const TracedLaunch& launch) { return launch.call->start; });
    const auto before = gradients.empty() ? 0 : gradients.back().after;
    const auto& operand = operands.empty() ? Operand{} : operands.front();
    gradients.push_back({.shape = shape_of(operand),
                         .element_bytes = bytes_of(operand),
                         .after = std::max(before, static_cast<std::size_t>(after - step.launches.begin()))});
  }
  if (trace.has_shapes) return gradients;
  for (auto left = std::ssize(gradients); left > 0; --left) {
    gradients[static_cast<std::size_t>(left - 1)].shape = {std::max<std::int64_t>(1, parameters / left)};
    parameters -= parameters / left;
  }
  return gradients;
}

std::vector<ProfiledBuffer> find_buffers(const Trace& trace, const TracedStep& step) {
  // All of them have the operands input, weight, bias, running mean, running variance. The outermost
  // operation found is used.
  constexpr std::array<std::string_view, 3> names{"aten::batch_norm", "aten::native_batch_norm",
                                                  "aten::cudnn_batch_norm"};
  constexpr std::size_t running_mean = 3;
  std::vector<ProfiledBuffer> buffers;
  for (const auto name : names) {
    if (!buffers.empty()) break;
    for (const auto* operation : operations_of(trace, step, name)) {
      const auto& operands = trace.signatures[operation->signature].operands;
      if (operands.size() <= running_mean + 1 || operands[running_mean].shapes.empty()) continue;
      for (const auto operand : {running_mean, running_mean + 1})
        buffers.push_back({shape_of(operands[operand]), bytes_of(operands[operand])});
      buffers.push_back({{}, count_bytes});
    }
  }
  return buffers;
}

}  // namespace gradway
