// SPDX-License-Identifier: Apache-2.0
// Operations that select, scatter, concatenate, pool or drop numbers: what they make and keep for their
// backward pass.
#include <algorithm>

#include "readers/kineto/memory/tape.hpp"
#include "readers/kineto/work/operation_work.hpp"

namespace gradway {

namespace {

using namespace operands;
using Shape = Operand::Shape;

}  // namespace

/// A new tensor is filled by operations that change it in place.
bool Tape::creation(const Signature& signature) {
  const auto sizes = whole_numbers(signature, 0);
  if (sizes.empty() || std::ranges::find(sizes, 0) != sizes.end()) return true;
  // c10::ScalarType: the first integer after the sizes (and strides, or the fill value).
  struct Type {
    std::int64_t number;
    int bytes;
  };
  constexpr std::array types{Type{0, 1}, Type{4, 8}, Type{5, 2}, Type{7, 8}, Type{11, 1}, Type{15, 2}};
  int width = kept_rules::bytes_of_fp32;
  for (std::size_t argument = 1; argument < std::min<std::size_t>(signature.values.size(), 4); ++argument) {
    const auto number = whole_numbers(signature, argument);
    if (number.size() != 1 || signature.values[argument].starts_with("[")) continue;
    const auto* const type = std::ranges::find(types, number.front(), &Type::number);
    if (type != types.end()) width = type->bytes;
    break;
  }
  begin_node();
  make(sizes, width);
  return true;
}

bool Tape::comparison(const Signature& signature) {
  begin_node();
  Shape result;
  for (const std::size_t operand : {0U, 1U}) {
    if (!has_tensor(signature, operand)) continue;
    use(find(signature, operand));
    result = broadcast(std::move(result), *shape(signature, operand));
  }
  if (!result.empty()) make(result, 1);
  return true;
}

bool Tape::norm(const Signature& signature) {
  const auto* input = shape(signature, 0);
  if (input == nullptr) return false;
  const auto x = find(signature, 0);
  auto& node = begin_node();
  use(x);
  keep(x);
  double channels = 0;
  for (std::size_t i = 1; i < signature.operands.size(); ++i) {
    const auto* operand_shape = shape(signature, i);
    if (operand_shape == nullptr || operand_shape->empty() || !is_parameter(*operand_shape)) continue;
    channels = element_count(*operand_shape);
  }
  constexpr double weight_and_bias = 2;
  node.gradients = weight_and_bias * gradient_of({static_cast<std::int64_t>(channels)});
  double statistics = element_count(*input) / std::max(1.0, channels);
  if (signature.name.find("batch_norm") != std::string::npos) statistics = channels;
  if (signature.name.find("group_norm") != std::string::npos && !input->empty()) {
    constexpr double usual_groups = 32;
    statistics = static_cast<double>(input->front()) * usual_groups;
  }
  if (has_node_) make_kept(2 * statistics, kept_rules::bytes_of_fp32);
  make(*input, bytes(signature, 0));
  return true;
}

bool Tape::loss(const Signature& signature) {
  const auto x = find(signature, 0);
  const auto y = find(signature, 1);
  begin_node();
  for (const auto tensor : {x, y}) {
    use(tensor);
    keep(tensor);
  }
  make({1}, kept_rules::bytes_of_fp32);
  return true;
}

bool Tape::cast(const Signature& signature, Parts inside) {
  for (const auto* operation : inside) {
    const auto& copy = trace_.signatures[operation->signature];
    if (copy.name != "aten::copy_") continue;
    if (!has_tensor(signature, 0) || bytes(copy, 0) == bytes(copy, 1)) return true;
    const bool is_weight = parameters_.has_only(signature);
    const auto x = is_weight ? none : find(signature, 0);
    begin_node();
    use(x);
    const auto result = make(*shape(signature, 0), bytes(copy, 0));
    auto& made = at(result);
    made.is_weight = is_weight;
    made.needs_grad = has_node_ && x != none && at(x).needs_grad;
    made.cast_from = x;
    return true;
  }
  return true;
}

void Tape::weight(const Signature& signature, std::size_t operand, NodeMemory& node) {
  const auto* weight_shape = shape(signature, operand);
  const auto copy = find_weight(*weight_shape, bytes(signature, operand));
  if (has_node_) node.gradients = gradient_of(*weight_shape);
  if (copy == none) return;
  at(copy).last_use = current_node();
  keep(copy);
  node.temporary = at(copy).size();
}

bool Tape::product(const Signature& signature, std::size_t left_operand) {
  const auto* rows = shape(signature, left_operand);
  const auto* columns = shape(signature, left_operand + 1);
  if (rows == nullptr || columns == nullptr || rows->size() != 2 || columns->size() != 2) return false;
  const auto x = find(signature, left_operand, {.of_product = true});
  auto& node = begin_node();
  use(x);
  if (is_parameter(*columns)) {
    keep(x);
    weight(signature, left_operand + 1, node);
  } else {
    const auto y = find(signature, left_operand + 1);
    use(y);
    if (needs_grad(signature, left_operand + 1, y)) keep(x);
    if (needs_grad(signature, left_operand, x)) keep(y);
  }
  make({rows->front(), columns->back()}, bytes(signature, left_operand), MadeBy::product);
  return true;
}

bool Tape::batched_product(const Signature& signature, std::size_t left_operand) {
  const auto* first = shape(signature, left_operand);
  const auto* second = shape(signature, left_operand + 1);
  if (first == nullptr || second == nullptr || first->size() != 3 || second->size() != 3) return false;
  const auto newest = [&](std::size_t operand, std::vector<int> except) {
    const auto unused = find(signature, operand, {.except = except, .only_unused = true});
    return unused != none ? unused : find(signature, operand, {.except = std::move(except)});
  };
  const auto x = newest(left_operand, {});
  const auto y = newest(left_operand + 1, {x});
  begin_node();
  use(x);
  use(y);
  if (needs_grad(signature, left_operand + 1, y)) keep(x);
  if (needs_grad(signature, left_operand, x)) keep(y);
  make({first->front(), (*first)[1], second->back()}, bytes(signature, left_operand));
  return true;
}

/// The settings are those of the library's own operation.
bool Tape::convolution(Parts inside) {
  for (const auto* operation : inside) {
    const auto& signature = trace_.signatures[operation->signature];
    const auto results = convolution_results(signature);
    if (!results) continue;
    const auto x = find(signature, 0);
    auto& node = begin_node();
    use(x);
    keep(x);
    weight(signature, 1, node);
    make(*results, bytes(signature, 0));
    return true;
  }
  return false;
}

bool Tape::softmax(const Signature& signature, bool is_log) {
  if (!has_tensor(signature, 0)) return false;
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  if (is_log && x != none) output_ = at(x).cast_from != none ? at(x).cast_from : x;
  constexpr std::size_t half_to_float = 2;
  keep(make(*shape(signature, 0),
            argument_is(signature, half_to_float, "True") ? kept_rules::bytes_of_fp32 : bytes(signature, 0)));
  return true;
}

bool Tape::embedding(const Signature& signature) {
  const auto* table = shape(signature, 0);
  const auto* indices = shape(signature, 1);
  if (table == nullptr || indices == nullptr || table->size() != 2) return false;
  const auto index = find(signature, 1);
  auto& node = begin_node();
  use(index);
  keep(index);
  if (has_node_) node.gradients = gradient_of(*table);
  auto result = *indices;
  result.push_back(table->back());
  make(result, bytes(signature, 0));
  return true;
}

/// Handles gather(x, dimension, index), index_select(x, dimension, index) and index(x, a list of indices).
bool Tape::selection(const Signature& signature, std::string_view name) {
  const auto* input = shape(signature, 0);
  const std::size_t operand = name == "index" ? 1 : 2;
  if (input == nullptr || operand >= signature.operands.size() ||
      signature.operands[operand].shapes.size() != 1)
    return false;
  const auto& indices = signature.operands[operand].shapes.front();
  const auto x = find(signature, 0);
  const auto index = find(indices, kept_rules::bytes_of_index);
  auto& node = begin_node();
  use(x);
  use(index);
  keep(index);
  if (name == "gather") keep(x);
  if (x == none && has_node_) node.gradients = gradient_of(*input);
  auto result = *input;
  if (name == "gather") result = indices;
  if (name == "index_select" && !result.empty())
    result[dimension(signature, 1, result.size())] = static_cast<std::int64_t>(element_count(indices));
  if (name == "index" && !result.empty()) {
    result.erase(result.begin());
    result.insert(result.begin(), indices.begin(), indices.end());
  }
  make(result, bytes(signature, 0));
  return true;
}

bool Tape::placement(const Signature& signature, std::string_view name) {
  begin_node();
  for (std::size_t i = 0; i < signature.operands.size(); ++i) {
    const auto tensor = find(signature, i);
    use(tensor);
    if (bytes(signature, i) == kept_rules::bytes_of_index) keep(tensor);
  }
  if (!name.ends_with('_') && has_tensor(signature, 0)) make(*shape(signature, 0), bytes(signature, 0));
  return true;
}

/// Returns numbers and their positions, which are kept.
bool Tape::sort(const Signature& signature, bool is_top) {
  if (!has_tensor(signature, 0)) return false;
  auto result = *shape(signature, 0);
  const auto most = whole_numbers(signature, 1);
  if (is_top && most.size() == 1) result[dimension(signature, 2, result.size())] = most.front();
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  if (has_node_) make_kept(element_count(result), kept_rules::bytes_of_index);
  make(result, bytes(signature, 0));
  return true;
}

/// Product of rows with the weights of their experts.
bool Tape::grouped_product(const Signature& signature) {
  const auto* rows = shape(signature, 0);
  const auto* weights = shape(signature, 1);
  if (rows == nullptr || weights == nullptr || rows->size() != 2 || weights->size() != 3) return false;
  const auto x = find(signature, 0, {.of_product = true});
  auto& node = begin_node();
  use(x);
  keep(x);
  weight(signature, 1, node);
  make({rows->front(), weights->back()}, bytes(signature, 0), MadeBy::product);
  return true;
}

bool Tape::halves(const Signature& signature) {
  if (!has_tensor(signature, 0)) return false;
  auto result = *shape(signature, 0);
  const auto along = signature.values.size() > 1 ? dimension(signature, 1, result.size()) : result.size() - 1;
  result[along] /= 2;
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  keep(x);
  make(result, bytes(signature, 0));
  return true;
}

bool Tape::upsample(const Signature& signature) {
  const auto* input = shape(signature, 0);
  const auto sides = whole_numbers(signature, 1);
  if (input == nullptr || input->size() != sides.size() + 2) return false;
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  Shape result{(*input)[0], (*input)[1]};
  result.insert(result.end(), sides.begin(), sides.end());
  make(result, bytes(signature, 0));
  return true;
}

bool Tape::dropout(const Signature& signature) {
  if (!has_tensor(signature, 0)) return false;
  const auto& input = *shape(signature, 0);
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  if (has_node_) make_kept(element_count(input), 1);
  make(input, bytes(signature, 0));
  return true;
}

/// Fills a tensor that was created empty with noise; a product then keeps it.
bool Tape::bernoulli(const Signature& signature) {
  if (!has_tensor(signature, 0)) return false;
  const auto x = find(signature, 0, {.only_unused = true, .of_any_shape = false});
  begin_node();
  if (x == none) {
    make(*shape(signature, 0), bytes(signature, 0));
    made_.back().needs_grad = false;
  }
  return true;
}

bool Tape::reduce(const Signature& signature, bool keeps_input) {
  if (!has_tensor(signature, 0)) return true;
  const auto& input = *shape(signature, 0);
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  if (keeps_input) keep(x);
  // The gradient of a sum is a view, of its result's.
  if (x != none && has_node_ && signature.name == "aten::sum") at(x).has_view_as_gradient = true;
  auto over = whole_numbers(signature, 1);
  constexpr std::size_t image = 4;
  if (signature.values.empty())
    over = input.size() == image ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{-1};
  Shape result;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    const auto count = static_cast<std::int64_t>(input.size());
    const bool goes = over.empty() || std::ranges::any_of(over, [&](auto reduced) {
                        return reduced == position || reduced + count == position;
                      });
    if (!goes) result.push_back(input[i]);
    if (goes && argument_is(signature, 2, "True")) result.push_back(1);
  }
  if (result.empty()) result = {1};
  make(result, bytes(signature, 0));
  return true;
}

bool Tape::concatenate(const Signature& signature, bool is_stack) {
  if (signature.operands.empty() || signature.operands.front().shapes.empty()) return false;
  const auto& shapes = signature.operands.front().shapes;
  int width = 0;
  begin_node();
  for (const auto& operand : shapes) {
    auto newest = none;
    for (const int candidate : {2, kept_rules::bytes_of_fp32, kept_rules::bytes_of_index,
                                1})  // A list does not give the type of its tensors.
      newest = std::max(newest, find(operand, candidate));
    use(newest);
    if (newest != none) width = std::max(width, at(newest).bytes);
  }
  auto result = *std::ranges::max_element(shapes, {}, &Shape::size);
  if (is_stack) {
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(dimension(signature, 1, result.size() + 1)),
                  static_cast<std::int64_t>(shapes.size()));
  } else if (!result.empty()) {
    const auto along = dimension(signature, 1, result.size());
    result[along] = 0;
    for (const auto& operand : shapes) result[along] += operand.size() == result.size() ? operand[along] : 0;
  }
  make(result, width == 0 ? kept_rules::bytes_of_fp32 : width);
  return true;
}

bool Tape::filled(const Signature& signature, Parts inside) {
  // Hugging Face's decoders shift their labels in this way in their forward pass. Training loops then use the
  // returned loss and free the logits, as its Trainer does.
  constexpr std::size_t value = 2;
  constexpr std::string_view ignored_label = "-100";
  if (value < signature.values.size() && signature.values[value].starts_with(ignored_label))
    returns_loss_ = true;
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  for (const auto* operation : inside) {
    const auto& created = trace_.signatures[operation->signature];
    if (created.name != "aten::empty") continue;
    make(whole_numbers(created, 0), bytes(signature, 0));
    break;
  }
  return true;
}

bool Tape::max_pool(const Signature& signature) {
  const auto results = pool_results(signature);
  if (!results) return false;
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  keep(x);
  if (has_node_) make_kept(element_count(*results), kept_rules::bytes_of_index);
  make(*results, bytes(signature, 0));
  return true;
}

bool Tape::average_pool(const Signature& signature) {
  const auto* input = shape(signature, 0);
  if (input == nullptr || input->size() != 4) return false;
  auto results = pool_results(signature);
  if (signature.name.find("adaptive") != std::string::npos) {
    const auto sides = whole_numbers(signature, 1);
    if (sides.empty()) return false;
    results = Shape{(*input)[0], (*input)[1], sides.front(), sides.back()};
  }
  if (!results) return false;
  const auto x = find(signature, 0);
  begin_node();
  use(x);
  keep(x);
  make(*results, bytes(signature, 0));
  return true;
}

}  // namespace gradway
