// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/operation_work.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gradway {
namespace {

/// Positions of the settings of a forward convolution.
struct Forward {
  std::string_view operation;
  std::size_t stride;  ///< Positions of arguments.
  std::size_t padding;
  std::size_t dilation;
};

// ATen/native/native_functions.yaml of PyTorch 2.11; input and filters are the operands 0 and 1.
constexpr std::array forwards{
    Forward{"aten::cudnn_convolution", 3, 2, 4},      Forward{"aten::miopen_convolution", 4, 3, 5},
    Forward{"aten::_conv_depthwise2d", 4, 5, 6},      Forward{"aten::conv_depthwise3d", 4, 5, 6},
    Forward{"aten::cudnn_convolution_relu", 3, 4, 5}, Forward{"aten::convolution_overrideable", 3, 4, 5},
    Forward{"aten::_slow_conv2d_forward", 4, 5, 0},   Forward{"aten::slow_conv3d_forward", 4, 5, 0},
    Forward{"aten::slow_conv_dilated2d", 4, 5, 6}};

constexpr std::string_view backward = "aten::convolution_backward";
constexpr std::size_t backward_transposed = 7;
constexpr std::size_t backward_mask = 10;  // Gradients asked for: of the input, the filters, the bias.

const Operand::Shape* tensor(const Signature& signature, std::size_t operand) {
  if (operand >= signature.operands.size()) return nullptr;
  const auto& shapes = signature.operands[operand].shapes;
  return shapes.size() == 1 && shapes[0].size() >= 3 ? &shapes[0] : nullptr;
}

/// Setting for a spatial dimension; a single number applies to all dimensions.
std::optional<double> setting(const Signature& signature, std::size_t argument, std::size_t dimension) {
  const auto values = whole_numbers(signature, argument);
  if (values.empty()) return std::nullopt;
  return static_cast<double>(values[std::min(dimension, values.size() - 1)]);
}

bool is_depthwise(const Operand::Shape& input, const Operand::Shape& filters) {
  return filters[1] == 1 && input[1] > 1;
}

double per_output(const Signature& signature, const Operand::Shape& filters, std::size_t operand) {
  return elements(signature, operand) / std::max(1.0, static_cast<double>(filters[0]));
}

/// Shape of the result; empty if the settings are not in the trace.
std::optional<Operand::Shape> result_shape(const Signature& signature, const Forward& forward,
                                           const Operand::Shape& input, const Operand::Shape& filters) {
  Operand::Shape results{input[0], filters[0]};
  for (std::size_t i = 0; i + 2 < input.size(); ++i) {
    const auto stride = setting(signature, forward.stride, i);
    const auto padding = setting(signature, forward.padding, i);
    const auto dilation = forward.dilation == 0 ? 1.0 : setting(signature, forward.dilation, i);
    if (!stride || !padding || !dilation || *stride <= 0) return std::nullopt;
    const double covered = *dilation * (static_cast<double>(filters[i + 2]) - 1) + 1;
    const double room = static_cast<double>(input[i + 2]) + 2 * *padding - covered;
    results.push_back(static_cast<std::int64_t>(room / *stride) + 1);
  }
  return results;
}

OperationWork work(const Signature& signature, double multiply_adds, int products, double tensor_elements) {
  return {KernelClass::matrix, Flops{2 * multiply_adds * products}, products,
          Bytes{element_bytes(signature.operands[0].type) * tensor_elements * products}};
}

std::optional<OperationWork> forward_work(const Signature& signature, const Forward& forward) {
  const auto* input = tensor(signature, 0);
  const auto* filters = tensor(signature, 1);
  if (input == nullptr || filters == nullptr || input->size() != filters->size()) return std::nullopt;
  if (is_depthwise(*input, *filters)) return OperationWork{};
  const auto shape = result_shape(signature, forward, *input, *filters);
  if (!shape) return std::nullopt;
  const auto results = element_count(*shape);
  return work(signature, results * per_output(signature, *filters, 1), 1,
              elements(signature, 0) + elements(signature, 1) + results);
}

std::optional<OperationWork> backward_work(const Signature& signature) {
  const auto* gradient = tensor(signature, 0);
  const auto* input = tensor(signature, 1);
  const auto* filters = tensor(signature, 2);
  if (gradient == nullptr || input == nullptr || filters == nullptr) return std::nullopt;
  if (is_depthwise(*input, *filters)) return OperationWork{};
  const auto& values = signature.values;
  const bool transposed = backward_transposed < values.size() && values[backward_transposed] == "True";
  const std::string mask = backward_mask < values.size() ? values[backward_mask] : "[True, True";
  const bool of_input = mask.starts_with("[True");
  const bool of_filters = mask.substr(std::min(mask.find(", "), mask.size())).starts_with(", True");
  // Each filter element is used once per element of the convolution's result; of a transposed one, per
  // element of its input.
  const double positions = elements(signature, transposed ? 1 : 0);
  return work(signature, positions * per_output(signature, *filters, 2),
              (of_input ? 1 : 0) + (of_filters ? 1 : 0),
              elements(signature, 0) + elements(signature, 1) + elements(signature, 2));
}

}  // namespace

std::optional<Operand::Shape> convolution_results(const Signature& signature) {
  const auto* const forward = std::ranges::find(forwards, signature.name, &Forward::operation);
  const auto* input = tensor(signature, 0);
  const auto* filters = tensor(signature, 1);
  if (forward == forwards.end() || input == nullptr || filters == nullptr || input->size() != filters->size())
    return std::nullopt;
  return result_shape(signature, *forward, *input, *filters);
}

std::optional<Operand::Shape> pool_results(const Signature& signature) {
  constexpr std::size_t kernel = 1;  // Arguments of max_pool2d_with_indices and avg_pool2d.
  constexpr std::size_t stride = 2;
  constexpr std::size_t padding = 3;
  const auto* input = tensor(signature, 0);
  if (input == nullptr || input->size() != 4) return std::nullopt;
  Operand::Shape results{(*input)[0], (*input)[1]};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto covered = setting(signature, kernel, side);
    auto step = setting(signature, stride, side);
    if (!step) step = covered;  // The default.
    const auto pad = setting(signature, padding, side);
    if (!covered || !step || !pad || *step <= 0) return std::nullopt;
    const double room = static_cast<double>((*input)[side + 2]) + 2 * *pad - *covered;
    results.push_back(static_cast<std::int64_t>(room / *step) + 1);
  }
  return results;
}

std::optional<OperationWork> convolution_work(const Signature& signature) {
  if (signature.name == backward) return backward_work(signature);
  const auto* const forward = std::ranges::find(forwards, signature.name, &Forward::operation);
  return forward == forwards.end() ? std::nullopt : forward_work(signature, *forward);
}

}  // namespace gradway
