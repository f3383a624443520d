// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys/nsys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "readers/kineto/work/kernel_name.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

constexpr std::array<std::string_view, 4> marks{", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};

/// The list at the start of the text, without blanks; empty if there is none or it does not end.
std::string list_at(std::string_view text) {
  constexpr std::string_view allowed = "0123456789[],-";
  std::string list;
  int depth = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    if (allowed.find(c) == std::string_view::npos) return "";
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth > 2 || (depth == 0 && c != ']')) return "";
    if (c != '-') list += c;
    if (depth == 0) return list;
  }
  return "";
}

}  // namespace

NvtxRange nvtx_range(std::string_view text) {
  NvtxRange range;
  auto end = text.size();
  for (const auto mark : marks) end = std::min(end, text.find(mark));
  range.name = text.substr(0, end);
  // Names of PyTorch's own annotations: "Optimizer.step#SGD.step", "enumerate(DataLoader)#...".
  const auto is_annotation = range.name.find('#') != std::string::npos;
  range.is_operation = !is_annotation && (end < text.size() || contains(range.name, "::"));
  if (const auto sizes = text.find(marks[2]); sizes != std::string_view::npos)
    range.shapes = list_at(text.substr(sizes + marks[2].size()));
  if (const auto number = text.find(marks[0]); number != std::string_view::npos) {
    const auto digits = text.substr(number + marks[0].size());
    std::from_chars(digits.data(), digits.data() + digits.size(), range.sequence);
  }
  return range;
}

std::string_view operand_type(std::string_view kernel) {
  const auto precision = precision_by_name(kernel);
  if (precision == Precision::bf16) return "c10::BFloat16";
  return precision == Precision::fp16 ? "c10::Half" : "float";
}

std::int64_t largest_operand(std::string_view shapes) {
  constexpr auto most = std::int64_t{1} << 50;
  std::int64_t largest = 0;
  std::int64_t elements = 1;
  bool is_tensor = false;
  const auto* position = shapes.data();
  const auto* const end = position + shapes.size();
  while (position != end) {
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(position, end, size);
    if (error == std::errc{}) {
      is_tensor = true;
      elements = size > 0 && elements <= most / size ? elements * size : 0;
      position = next;
      continue;
    }
    if (*position == ']' && is_tensor) largest = std::max(largest, elements);
    if (*position == '[' || *position == ']') {
      elements = 1;
      is_tensor = false;
    }
    ++position;
  }
  return largest;
}

std::string operand_types(std::string_view shapes, std::string_view type) {
  std::string types;
  int depth = 0;
  bool has_size = false;
  for (const char c : shapes) {
    if (c == '[' && ++depth == 2) has_size = false;
    if (c >= '0' && c <= '9') has_size = true;
    if (c != ']' || depth-- != 2) continue;
    types.append(has_size ? type : "Scalar").push_back('\n');
  }
  return types;
}

}  // namespace gradway
