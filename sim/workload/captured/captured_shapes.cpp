// SPDX-License-Identifier: Apache-2.0
// Sizes of captured tensors, and the tensors that operations need so that their kernels can be derived.
#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "sim/workload/captured/captured_names.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway {
namespace {

constexpr std::size_t any_rank = 0;

/// Least tensors that an operation reads and writes.
struct CapturedShape {
  std::string_view name;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t first = 0;          ///< index of the first input with `rank` dimensions
  std::size_t of_rank = 0;        ///< number of such inputs
  std::size_t rank = any_rank;    ///< their number of dimensions; 0: any
  std::size_t result = any_rank;  ///< least dimensions of the first result
};

constexpr CapturedShape known_shapes[] = {
    CapturedShape{"mm", 2, 1, 0, 2, 2, 2},
    CapturedShape{"addmm", 3, 1, 1, 2, 2, 2},
    CapturedShape{"bmm", 2, 1, 0, 2, 3, 3},
    CapturedShape{"baddbmm", 3, 1, 1, 2, 3, 3},
    CapturedShape{"_grouped_mm", 2, 1, 0, 1, 2, 2},
    CapturedShape{"_scaled_mm", 4, 1, 0, 2, 2, 2},
    CapturedShape{"convolution", 2, 1, 0, 0, any_rank, 3},
    CapturedShape{"convolution_backward", 3, 1, 0, 0, any_rank, 1},
    CapturedShape{"scaled_dot_product_attention", 3, 1, 0, 3, 4, 4},
    CapturedShape{"scaled_dot_product_attention_backward", 4, 1, 0, 4, 4, 4},
    CapturedShape{"embedding", 2, 1, 0, 1, 2, 1},
    CapturedShape{"embedding_dense_backward", 2, 1, 0, 0, any_rank, 2},
    CapturedShape{"max_pool2d_with_indices_backward", 2, 1},
    CapturedShape{"cat", 0, 1},
};

bool is_image_of_convolution(const CapturedTensor& tensor) {
  return tensor.shape.size() >= 3;
}

}  // namespace

double bytes_of(CapturedType type) {
  switch (type) {
    case CapturedType::fp64:
    case CapturedType::int64:
      return 8;
    case CapturedType::fp32:
    case CapturedType::int32:
      return 4;
    case CapturedType::bf16:
    case CapturedType::fp16:
    case CapturedType::int16:
      return 2;
    case CapturedType::int8:
    case CapturedType::boolean:
    case CapturedType::fp8:
      return 1;
  }
  return 4;
}

double CapturedTensor::elements() const {
  double product = 1;
  for (const auto side : shape) product *= static_cast<double>(side);
  return product;
}

std::string why_invalid(const CapturedOperation& captured) {
  const std::string_view name = captured.name;
  if (name == "checkpoint") return captured.inner > 0 ? "" : "needs operations=, the number of those in it";
  if (captured.inputs.empty() && captured.outputs.empty()) return "has neither input nor output tensors";
  const auto count = [](std::size_t number, std::string_view role) {
    return fmt::format("{} {} tensor{}", number, role, number == 1 ? "" : "s");
  };
  if (const auto* known = std::ranges::find(known_shapes, name, &CapturedShape::name);
      known != std::end(known_shapes)) {
    if (captured.inputs.size() < known->inputs) return "needs at least " + count(known->inputs, "input");
    if (captured.outputs.size() < known->outputs) return "needs at least " + count(known->outputs, "output");
    for (auto i = known->first; i < known->first + known->of_rank; ++i)
      if (captured.inputs[i].shape.size() != known->rank)
        return fmt::format("needs input tensors of {} dimensions, not {}", known->rank,
                           captured.inputs[i].shape.size());
    if (!captured.outputs.empty() && captured.outputs.front().shape.size() < known->result)
      return fmt::format("needs an output tensor of at least {} dimensions", known->result);
  } else if (captured.inputs.empty() && !is_zeroing(name) && !is_random(name) && !is_plain_operation(name)) {
    return "needs at least " + count(1, "input");
  }
  if (name.starts_with("nll_loss") && name.find("backward") != std::string_view::npos &&
      captured.inputs.size() < 2)
    return "needs at least " + count(2, "input");
  if (name.starts_with("convolution")) {
    const std::size_t first = name == "convolution" ? 0 : 1;
    if (!is_image_of_convolution(captured.inputs[first]) ||
        !is_image_of_convolution(captured.inputs[first + 1]) ||
        (first == 1 && !is_image_of_convolution(captured.inputs[0])))
      return "needs input tensors of at least 3 dimensions";
    if (captured.stride.size() != captured.padding.size())
      return "needs as many numbers in pad= as in stride=";
  }
  if (name == "_grouped_mm") {
    const auto rank = captured.inputs[1].shape.size();
    if (rank != 2 && rank != 3) return "needs a second input tensor of 2 or 3 dimensions";
    if (rank == 2 && captured.outputs[0].shape.size() != 3) return "needs an output tensor of 3 dimensions";
  }
  return "";
}

}  // namespace gradway
