// SPDX-License-Identifier: Apache-2.0
// Tensors that each operation of a forward pass uses, makes and keeps for its backward pass.
#include <algorithm>
#include <array>
#include <optional>

#include "readers/kineto/memory/tape.hpp"
#include "readers/kineto/work/operation_work.hpp"

namespace gradway {
namespace {

using kept_rules::Keeps;
using namespace operands;
using Shape = Operand::Shape;

}  // namespace

bool Tape::record(const TracedOperation& operation, Parts inside) {
  const auto& signature = trace_.signatures[operation.signature];
  constexpr std::string_view space = "aten::";
  const bool is_compiled = operation.start < compiled_until_;
  has_node_ = is_compiled || has_node(inside);
  if (is_compiled && record_fused(signature)) return true;
  if (!signature.name.starts_with(space)) return false;
  // Autocast calls an operation again in another format. Without gradients it has no node numbers.
  const auto is_same_operation = [&](const TracedOperation* inner) {
    const auto& called = trace_.signatures[inner->signature];
    const bool is_other_format = operation.sequence == 0 && bytes(called, 0) != bytes(signature, 0);
    return called.name == signature.name &&
           (inner->sequence > 0 || !autograd_.are_known() || is_other_format);
  };
  if (std::ranges::any_of(inside.subspan(1), is_same_operation)) return false;
  const auto name = std::string_view{signature.name}.substr(space.size());
  const auto* const rule = std::ranges::find_if(kept_rules::rules, [&](const auto& candidate) {
    return kept_rules::is_among(name, candidate.operations);
  });
  if (rule != kept_rules::rules.end()) return record_by_rule(signature, *rule);
  if (kept_rules::is_among(name, kept_rules::views)) return view(signature);
  if (kept_rules::is_among(name, kept_rules::creations)) return creation(signature);
  if (kept_rules::is_among(name, kept_rules::comparisons)) return comparison(signature);
  if (kept_rules::is_among(name, kept_rules::norms)) return norm(signature);
  if (kept_rules::is_among(name, kept_rules::losses)) return loss(signature);
  if (kept_rules::is_among(name, kept_rules::softmaxes)) return softmax(signature, name == "_log_softmax");
  if (kept_rules::is_among(name, kept_rules::reductions_that_keep_nothing)) return reduce(signature, false);
  if (kept_rules::is_among(name, kept_rules::reductions_that_keep_input)) return reduce(signature, true);
  if (name == "_to_copy") return cast(signature, inside);
  if (name == "addmm" || name == "_addmm_activation") return product(signature, 1);
  if (name == "mm") return product(signature, 0);
  if (name == "bmm" || name == "baddbmm") return batched_product(signature, name == "bmm" ? 0 : 1);
  if (name == "embedding") return embedding(signature);
  if (name == "gather" || name == "index_select" || name == "index") return selection(signature, name);
  if (name == "native_dropout") return dropout(signature);
  if (name == "bernoulli_") return bernoulli(signature);
  if (name == "cat" || name == "stack") return concatenate(signature, name == "stack");
  if (name == "constant_pad_nd" || name == "repeat") return filled(signature, inside);
  if (kept_rules::is_among(name, kept_rules::placements)) return placement(signature, name);
  if (name == "topk" || name == "sort") return sort(signature, name == "topk");
  if (name == "_grouped_mm") return grouped_product(signature);
  if (name == "glu") return halves(signature);
  if (name.starts_with("upsample_")) return upsample(signature);
  if (name == "max_pool2d_with_indices") return max_pool(signature);
  if (name == "avg_pool2d" || name == "_adaptive_avg_pool2d") return average_pool(signature);
  if (name == "convolution") return convolution(inside);
  if (name.starts_with("_scaled_dot_product") && name.find("math") == std::string_view::npos)
    return attention(signature);
  return kept_rules::is_among(name, kept_rules::harmless);
}

int Tape::find(const Signature& signature, std::size_t operand, const WantedTensor& wanted) const {
  return has_tensor(signature, operand) ? find(*shape(signature, operand), bytes(signature, operand), wanted)
                                        : none;
}

bool Tape::needs_grad(const Signature& signature, std::size_t operand, int tensor) const {
  if (tensor != none) return at(tensor).needs_grad;
  return has_tensor(signature, operand) && is_parameter(*shape(signature, operand));
}

bool Tape::record_without_node(const TracedOperation& operation) {
  const auto* const pointer = &operation;
  has_node_ = has_node({&pointer, 1});
  if (has_node_) return false;
  const auto& signature = trace_.signatures[operation.signature];
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  if (has_tensor(signature, 0)) make(*shape(signature, 0), bytes(signature, 0));
  return true;
}

bool Tape::record_by_rule(const Signature& signature, const kept_rules::Rule& rule) {
  struct OperandTensor {
    std::size_t operand;
    int tensor;
  };
  std::vector<OperandTensor> taken;
  std::vector<int> tensors;
  Shape result;
  int width = 0;
  for (std::size_t i = 0; i < signature.operands.size(); ++i) {
    if (!has_tensor(signature, i)) continue;
    auto tensor = find(signature, i, {.except = tensors});
    if (tensor == none) tensor = find(signature, i);  // Both operands are the same tensor.
    if (tensor != none) tensors.push_back(tensor);
    taken.push_back({i, tensor});
    result = broadcast(std::move(result), *shape(signature, i));
    const bool is_condition = rule.keeps == Keeps::mask && signature.operands[i].type == "bool";
    if (!is_condition)
      width = std::max(width, bytes(signature, i) == kept_rules::bytes_of_index && width > 0
                                  ? width
                                  : bytes(signature, i));
  }
  if (taken.empty()) return true;
  auto& node = begin_node();
  for (const auto& [operand, tensor] : taken) {
    use(tensor);
    if (tensor == none && has_node_ && is_parameter(*shape(signature, operand)))
      node.gradients += gradient_of(*shape(signature, operand));
  }
  const auto first = taken.front().tensor;
  const bool is_pair = taken.size() == 2;
  if (rule.keeps == Keeps::input) keep(first);
  if (rule.keeps == Keeps::inputs) std::ranges::for_each(tensors, [&](int tensor) { keep(tensor); });
  if (is_pair && (rule.keeps == Keeps::others || rule.keeps == Keeps::divisor)) {
    const auto second = taken.back().tensor;
    if (needs_grad(signature, taken.back().operand, second)) keep(first);
    if (rule.keeps == Keeps::divisor || needs_grad(signature, taken.front().operand, first)) keep(second);
  }
  // The gradient of an operand that is broadcast has the size of the result before it is summed, and those of
  // both operands exist at a time. @source PyTorch 2.11, torch/csrc/autograd/engine.cpp (validate_outputs)
  for (const auto& [operand, tensor] : taken)
    if (has_node_ && (rule.keeps == Keeps::others || rule.keeps == Keeps::divisor) &&
        needs_grad(signature, operand, tensor) &&
        element_count(*shape(signature, operand)) < element_count(result))
      node.activations += element_count(result) * width;
  if (rule.keeps == Keeps::mask) {
    for (const auto& [operand, tensor] : taken) {
      if (signature.operands[operand].type == "bool") keep(tensor);
    }
  }
  if (rule.in_place) {
    if (rule.keeps == Keeps::result) keep(first);
    return true;
  }
  const bool is_part = signature.name == "aten::pow" || signature.name == "aten::neg";
  const auto made = make(result, width, is_part ? MadeBy::part_of_expression : MadeBy::anything);
  if (rule.keeps == Keeps::result) keep(made);
  return true;
}

bool Tape::view(const Signature& signature) {
  const auto tensor = find(signature, 0);
  auto sizes = whole_numbers(signature, 1);
  if (tensor == none || sizes.empty()) return true;
  const auto elements = element_count(*shape(signature, 0));
  if (const auto inferred = std::ranges::find(sizes, -1); inferred != sizes.end()) {
    *inferred = 1;
    *inferred = static_cast<std::int64_t>(elements / std::max(1.0, element_count(sizes)));
  }
  show_as(tensor, sizes);
  return true;
}

bool Tape::attention(const Signature& signature) {
  const auto* queries = shape(signature, 0);
  const auto* keys = shape(signature, 1);
  if (queries == nullptr || keys == nullptr || queries->size() != 4) return false;
  const auto width = bytes(signature, 0);
  const auto elements = element_count(*queries);
  const auto packed = static_cast<std::int64_t>(elements + 2 * element_count(*keys));
  std::array<int, 3> inputs{none, none, none};
  const bool are_seen = find(signature, 0, {.of_any_shape = false}) != none;
  if (const auto packed_tensor = are_seen ? none : find({packed}, width); packed_tensor != none) {
    inputs[0] = packed_tensor;
  } else {
    std::vector<int> tensors;
    for (const std::size_t operand : {2U, 1U, 0U}) {  // Values are made last.
      const auto* operand_shape = shape(signature, operand) == nullptr ? keys : shape(signature, operand);
      auto tensor = find(*operand_shape, width, {.except = tensors, .only_unused = true});
      if (tensor == none && tensors.empty()) tensor = find(*operand_shape, width);
      const bool holds_all = !tensors.empty() && at(tensors.front()).elements > element_count(*keys);
      if (tensor == none && !holds_all) tensor = find(*operand_shape, width, {.except = tensors});
      if (tensor != none) tensors.push_back(tensor);
      inputs[operand] = tensor;
    }
  }
  constexpr std::size_t mask = 3;
  const auto added = signature.name.find("flash") == std::string::npos ? find(signature, mask) : none;
  begin_node();
  for (const auto input : inputs) {
    use(input);
    keep(input);
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
