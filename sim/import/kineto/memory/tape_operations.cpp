// SPDX-License-Identifier: Apache-2.0
// Tensors that each operation of a forward pass uses, makes and keeps for its backward pass.
#include <algorithm>
#include <array>
#include <optional>

#include "sim/import/kineto/memory/tape.hpp"
#include "sim/import/kineto/work/operation_work.hpp"

namespace gradway {
namespace {

using kept_rules::Keeps;
using namespace operands;
using Shape = Operand::Shape;

}  // namespace

bool Tape::record(const TracedOperation& operation, Parts inside) {
  const auto& it = trace_.signatures[operation.signature];
  constexpr std::string_view space = "aten::";
  const bool is_compiled = operation.start < compiled_until_;
  has_node_ = is_compiled || has_node(inside);
  if (is_compiled && record_fused(it)) return true;
  if (!it.name.starts_with(space)) return false;
  // Autocast calls an operation again in another format. Without gradients it has no node numbers.
  const auto is_same_operation = [&](const TracedOperation* part) {
    const auto& called = trace_.signatures[part->signature];
    const bool is_other_format = operation.sequence == 0 && bytes(called, 0) != bytes(it, 0);
    return called.name == it.name && (part->sequence > 0 || !autograd_.are_known() || is_other_format);
  };
  if (std::ranges::any_of(inside.subspan(1), is_same_operation)) return false;
  const auto name = std::string_view{it.name}.substr(space.size());
  const auto* const rule = std::ranges::find_if(
      kept_rules::rules, [&](const auto& one) { return kept_rules::is_among(name, one.operations); });
  if (rule != kept_rules::rules.end()) return record_by_rule(it, *rule);
  if (kept_rules::is_among(name, kept_rules::views)) return view(it);
  if (kept_rules::is_among(name, kept_rules::creations)) return creation(it);
  if (kept_rules::is_among(name, kept_rules::comparisons)) return comparison(it);
  if (kept_rules::is_among(name, kept_rules::norms)) return norm(it);
  if (kept_rules::is_among(name, kept_rules::losses)) return loss(it);
  if (kept_rules::is_among(name, kept_rules::softmaxes)) return softmax(it, name == "_log_softmax");
  if (kept_rules::is_among(name, kept_rules::reductions_that_keep_nothing)) return reduce(it, false);
  if (kept_rules::is_among(name, kept_rules::reductions_that_keep_input)) return reduce(it, true);
  if (name == "_to_copy") return cast(it, inside);
  if (name == "addmm" || name == "_addmm_activation") return product(it, 1);
  if (name == "mm") return product(it, 0);
  if (name == "bmm" || name == "baddbmm") return batched_product(it, name == "bmm" ? 0 : 1);
  if (name == "embedding") return embedding(it);
  if (name == "gather" || name == "index_select" || name == "index") return selection(it, name);
  if (name == "native_dropout") return dropout(it);
  if (name == "bernoulli_") return bernoulli(it);
  if (name == "cat" || name == "stack") return concatenate(it, name == "stack");
  if (name == "constant_pad_nd" || name == "repeat") return filled(it, inside);
  if (kept_rules::is_among(name, kept_rules::placements)) return placement(it, name);
  if (name == "topk" || name == "sort") return sort(it, name == "topk");
  if (name == "_grouped_mm") return grouped_product(it);
  if (name == "glu") return halves(it);
  if (name.starts_with("upsample_")) return upsample(it);
  if (name == "max_pool2d_with_indices") return max_pool(it);
  if (name == "avg_pool2d" || name == "_adaptive_avg_pool2d") return average_pool(it);
  if (name == "convolution") return convolution(inside);
  if (name.starts_with("_scaled_dot_product") && name.find("math") == std::string_view::npos)
    return attention(it);
  return kept_rules::is_among(name, kept_rules::harmless);
}

int Tape::find(const Signature& it, std::size_t operand, const WantedTensor& wanted) const {
  return has_tensor(it, operand) ? find(*shape(it, operand), bytes(it, operand), wanted) : none;
}

bool Tape::needs_grad(const Signature& it, std::size_t operand, int tensor) const {
  if (tensor != none) return at(tensor).needs_grad;
  return has_tensor(it, operand) && is_parameter(*shape(it, operand));
}

bool Tape::record_without_node(const TracedOperation& operation) {
  const auto* const one = &operation;
  has_node_ = has_node({&one, 1});
  if (has_node_) return false;
  const auto& it = trace_.signatures[operation.signature];
  const auto x = find(it, 0);
  begin_node();
  use(x);
  if (has_tensor(it, 0)) make(*shape(it, 0), bytes(it, 0));
  return true;
}

bool Tape::record_by_rule(const Signature& it, const kept_rules::Rule& rule) {
  struct OperandTensor {
    std::size_t operand;
    int tensor;
  };
  std::vector<OperandTensor> taken;
  std::vector<int> found;
  Shape result;
  int width = 0;
  for (std::size_t i = 0; i < it.operands.size(); ++i) {
    if (!has_tensor(it, i)) continue;
    auto tensor = find(it, i, {.except = found});
    if (tensor == none) tensor = find(it, i);  // Both operands are the same tensor.
    if (tensor != none) found.push_back(tensor);
    taken.push_back({i, tensor});
    result = broadcast(std::move(result), *shape(it, i));
    const bool is_condition = rule.keeps == Keeps::mask && it.operands[i].type == "bool";
    if (!is_condition)
      width = std::max(width, bytes(it, i) == kept_rules::bytes_of_index && width > 0 ? width : bytes(it, i));
  }
  if (taken.empty()) return true;
  auto& node = begin_node();
  for (const auto& [operand, tensor] : taken) {
    use(tensor);
    if (tensor == none && has_node_ && is_parameter(*shape(it, operand)))
      node.gradients += gradient_of(*shape(it, operand));
  }
  const auto first = taken.front().tensor;
  const bool is_pair = taken.size() == 2;
  if (rule.keeps == Keeps::input) keep(first);
  if (rule.keeps == Keeps::inputs) std::ranges::for_each(found, [&](int tensor) { keep(tensor); });
  if (is_pair && (rule.keeps == Keeps::others || rule.keeps == Keeps::divisor)) {
    const auto second = taken.back().tensor;
    if (needs_grad(it, taken.back().operand, second)) keep(first);
    if (rule.keeps == Keeps::divisor || needs_grad(it, taken.front().operand, first)) keep(second);
  }
  if (rule.keeps == Keeps::mask) {
    for (const auto& [operand, tensor] : taken) {
      if (it.operands[operand].type == "bool") keep(tensor);
    }
  }
  if (rule.in_place) {
    if (rule.keeps == Keeps::result) keep(first);
    return true;
  }
  const bool is_part = it.name == "aten::pow" || it.name == "aten::neg";
  const auto made = make(result, width, is_part ? MadeBy::part_of_expression : MadeBy::anything);
  if (rule.keeps == Keeps::result) keep(made);
  return true;
}

bool Tape::view(const Signature& it) {
  const auto tensor = find(it, 0);
  auto to = whole_numbers(it, 1);
  if (tensor == none || to.empty()) return true;
  const auto elements = element_count(*shape(it, 0));
  if (const auto rest = std::ranges::find(to, -1); rest != to.end()) {
    *rest = 1;
    *rest = static_cast<std::int64_t>(elements / std::max(1.0, element_count(to)));
  }
  show_as(tensor, to);
  return true;
}

bool Tape::attention(const Signature& it) {
  const auto* queries = shape(it, 0);
  const auto* keys = shape(it, 1);
  if (queries == nullptr || keys == nullptr || queries->size() != 4) return false;
  const auto width = bytes(it, 0);
  const auto elements = element_count(*queries);
  const auto packed = static_cast<std::int64_t>(elements + 2 * element_count(*keys));
  std::array<int, 3> parts{none, none, none};
  const bool are_seen = find(it, 0, {.of_any_shape = false}) != none;
  if (const auto whole = are_seen ? none : find({packed}, width); whole != none) {
    parts[0] = whole;
  } else {
    std::vector<int> found;
    for (const std::size_t operand : {2U, 1U, 0U}) {  // Values are made last.
      const auto* of = shape(it, operand) == nullptr ? keys : shape(it, operand);
      auto part = find(*of, width, {.except = found, .only_unused = true});
      if (part == none && found.empty()) part = find(*of, width);
      const bool holds_all = !found.empty() && at(found.front()).elements > element_count(*keys);
      if (part == none && !holds_all) part = find(*of, width, {.except = found});
      if (part != none) found.push_back(part);
      parts[operand] = part;
    }
  }
  constexpr std::size_t mask = 3;
  const auto added = it.name.find("flash") == std::string::npos ? find(it, mask) : none;
  begin_node();
  for (const auto part : parts) {
    use(part);
    keep(part);
  }
  use(added);
  keep(added);
  if (has_node_)
    make_kept(elements / static_cast<double>(std::max<std::int64_t>(1, queries->back())),
              kept_rules::bytes_of_fp32);
  keep(make(*queries, width));
  return true;
}

}  // namespace gradway
