// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/captured/captured_layouts.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace gradway {

const CapturedTensor& written_by(const CapturedOperation& captured) {
  return captured.outputs.empty() ? captured.inputs.front() : captured.outputs.front();
}

bool has_same_layout(const CapturedOperation& captured) {
  const auto& result = written_by(captured);
  return std::ranges::all_of(captured.inputs, [&](const auto& tensor) {
    return tensor.elements() <= 1 ||
           (tensor.elements() == result.elements() && tensor.layout == result.layout);
  });
}

int merged_dimensions(const CapturedOperation& captured) {
  const auto& shape = written_by(captured).shape;
  const auto rank = static_cast<std::ptrdiff_t>(shape.size());
  // By operand: whether it has one element along a dimension of the result, counted from the last one.
  const auto has_one_element = [&](const CapturedTensor& tensor, std::ptrdiff_t from_end) {
    const auto of_tensor = std::ssize(tensor.shape) - 1 - from_end;
    return of_tensor < 0 || tensor.shape[static_cast<std::size_t>(of_tensor)] == 1;
  };
  int dimensions = 0;
  std::ptrdiff_t inner = -1;  // the next dimension towards the last one that is longer than 1
  for (std::ptrdiff_t from_end = 0; from_end < rank; ++from_end) {
    if (shape[static_cast<std::size_t>(rank - 1 - from_end)] == 1) continue;
    const bool merges =
        inner >= 0 && std::ranges::all_of(captured.inputs, [&](const auto& tensor) {
          const bool has_gaps = inner == 0 && tensor.layout != CapturedLayout::contiguous;
          return has_one_element(tensor, from_end) == has_one_element(tensor, inner) && !has_gaps;
        });
    dimensions += merges ? 0 : 1;
    inner = from_end;
  }
  return dimensions;
}

bool is_broadcast(const CapturedOperation& captured) {
  const auto& result = written_by(captured);
  int smaller = 0;
  for (const auto& tensor : captured.inputs) {
    if (tensor.elements() < result.elements()) {
      smaller += tensor.elements() > 1 ? 1 : 0;
    } else if (tensor.layout != CapturedLayout::contiguous) {
      return false;
    }
  }
  return smaller > 0;
}

std::string_view kernel_of_layouts(const CapturedOperation& captured) {
  const auto& result = written_by(captured);
  int same_size = 0;
  int strided = 0;
  int smaller = 0;
  for (const auto& tensor : captured.inputs) {
    if (tensor.elements() == result.elements()) {
      ++same_size;
      strided += tensor.layout == CapturedLayout::contiguous ? 0 : 1;
    } else if (tensor.elements() > 1) {
      ++smaller;
    }
  }
  if (same_size == 1 && smaller == 1 && strided > 0) return "rotary";
  if (same_size != 2 || smaller > 0) return {};
  return strided == 2 ? "halves" : "strided";
}

bool reduces_rows(const CapturedOperation& captured) {
  const auto& from = captured.inputs.front();
  const auto& result = written_by(captured);
  if (result.elements() <= 1 || result.shape.size() > from.shape.size()) return false;
  auto side = result.shape.begin();
  while (side != result.shape.end() &&
         *side == from.shape[static_cast<std::size_t>(side - result.shape.begin())])
    ++side;
  return std::all_of(side, result.shape.end(), [](auto length) { return length == 1; });
}

}  // namespace gradway
