// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nsys/nsys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

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

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](auto part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace

NvtxRange nvtx_range(std::string_view text) {
  NvtxRange range;
  auto end = text.size();
  for (const auto mark : marks) end = std::min(end, text.find(mark));
  range.name = text.substr(0, end);
  const auto is_annotation = range.name.starts_with("Optimizer.") || range.name.starts_with("ProfilerStep#");
  range.is_operation = !is_annotation && (end < text.size() || has_any(range.name, {"::"}));
  if (const auto sizes = text.find(marks[2]); sizes != std::string_view::npos)
    range.shapes = list_at(text.substr(sizes + marks[2].size()));
  if (const auto number = text.find(marks[0]); number != std::string_view::npos) {
    const auto digits = text.substr(number + marks[0].size());
    std::from_chars(digits.data(), digits.data() + digits.size(), range.sequence);
  }
  return range;
}

std::string_view operand_type(std::string_view kernel) {
  if (has_any(kernel, {"bf16", "BFloat16", "bfloat16"})) return "c10::BFloat16";
  if (has_any(kernel, {"f16", "fp16", "Half", "half", "hgemm"})) return "c10::Half";
  return "float";
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
