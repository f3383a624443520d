// SPDX-License-Identifier: Apache-2.0
// Operations that select, scatter, concatenate, pool or drop numbers: what they make and keep for their
// backward pass.
#include <algorithm>

#include "sim/import/kineto/memory/tape.hpp"
#include "sim/import/kineto/work/operation_work.hpp"

namespace gradway {

namespace {

using namespace operands;
using Shape = Operand::Shape;

}  // namespace

/// A new tensor is filled by operations that change it in place.
bool Tape::creation(const Signature& it) {
  const auto to = whole_numbers(it, 0);
  if (to.empty() || std::ranges::find(to, 0) != to.end()) return true;
  // c10::ScalarType: the first integer after the sizes (and strides, or the fill value).
  struct Type {
    std::int64_t number;
    int bytes;
  };
  constexpr std::array types{Type{0, 1}, Type{4, 8}, Type{5, 2}, Type{7, 8}, Type{11, 1}, Type{15, 2}};
  int width = kept_rules::bytes_of_fp32;
  for (std::size_t argument = 1; argument < std::min<std::size_t>(it.values.size(), 4); ++argument) {
    const auto number = whole_numbers(it, argument);
    if (number.size() != 1 || it.values[argument].starts_with("[")) continue;
    const auto* const type = std::ranges::find(types, number.front(), &Type::number);
    if (type != types.end()) width = type->bytes;
    break;
  }
  begin_node();
  make(to, width);
  return true;
}

bool Tape::comparison(const Signature& it) {
  begin_node();
  Shape result;
  for (const std::size_t operand : {0U, 1U}) {
    if (!has_tensor(it, operand)) continue;
    use(find(it, operand));
    result = broadcast(std::move(result), *shape(it, operand));
  }
  if (!result.empty()) make(result, 1);
  return true;
}

bool Tape::norm(const Signature& it) {
  const auto* input = shape(it, 0);
  if (input == nullptr) return false;
  const auto x = find(it, 0);
  auto& node = begin_node();
  use(x);
  keep(x);
  double channels = 0;
  for (std::size_t i = 1; i < it.operands.size(); ++i) {
    const auto* of = shape(it, i);
    if (of == nullptr || of->empty() || !is_parameter(*of)) continue;
    channels = element_count(*of);
  }
  constexpr double weight_and_bias = 2;
  node.gradients = weight_and_bias * gradient_of({static_cast<std::int64_t>(channels)});
  double statistics = element_count(*input) / std::max(1.0, channels);
  if (it.name.find("batch_norm") != std::string::npos) statistics = channels;
  if (it.name.find("group_norm") != std::string::npos && !input->empty()) {
    constexpr double usual_groups = 32;
    statistics = static_cast<double>(input->front()) * usual_groups;
  }
  if (has_node_) make_kept(2 * statistics, kept_rules::bytes_of_fp32);
  make(*input, bytes(it, 0));
  return true;
}

bool Tape::loss(const Signature& it) {
  const auto x = find(it, 0);
  const auto y = find(it, 1);
  begin_node();
  for (const auto tensor : {x, y}) {
    use(tensor);
    keep(tensor);
  }
  make({1}, kept_rules::bytes_of_fp32);
  return true;
}

bool Tape::cast(const Signature& it, Parts inside) {
  for (const auto* part : inside) {
    const auto& copy = trace_.signatures[part->signature];
    if (copy.name != "aten::copy_") continue;
    if (!has_tensor(it, 0) || bytes(copy, 0) == bytes(copy, 1)) return true;
    const bool is_weight = parameters_.has_only(it);
    const auto x = is_weight ? none : find(it, 0);
    begin_node();
    use(x);
    const auto result = make(*shape(it, 0), bytes(copy, 0));
    auto& made = at(result);
    made.is_weight = is_weight;
    made.needs_grad = has_node_ && x != none && at(x).needs_grad;
    made.cast_from = x;
    return true;
  }
  return true;
}

void Tape::weight(const Signature& it, std::size_t operand, NodeMemory& node) {
  const auto* of = shape(it, operand);
  const auto copy = find_weight(*of, bytes(it, operand));
  if (has_node_) node.gradients = gradient_of(*of);
  if (copy == none) return;
  at(copy).last_use = current_node();
  keep(copy);
  node.temporary = at(copy).size();
}

bool Tape::product(const Signature& it, std::size_t left) {
  const auto* rows = shape(it, left);
  const auto* columns = shape(it, left + 1);
  if (rows == nullptr || columns == nullptr || rows->size() != 2 || columns->size() != 2) return false;
  const auto x = find(it, left, {.of_product = true});
  auto& node = begin_node();
  use(x);
  if (is_parameter(*columns)) {
    keep(x);
    weight(it, left + 1, node);
  } else {
    const auto y = find(it, left + 1);
    use(y);
    if (needs_grad(it, left + 1, y)) keep(x);
    if (needs_grad(it, left, x)) keep(y);
  }
  make({rows->front(), columns->back()}, bytes(it, left), MadeBy::product);
  return true;
}

bool Tape::batched_product(const Signature& it, std::size_t left) {
  const auto* first = shape(it, left);
  const auto* second = shape(it, left + 1);
  if (first == nullptr || second == nullptr || first->size() != 3 || second->size() != 3) return false;
  const auto x = find(it, left);
  const auto y = find(it, left + 1, {.except = {x}});
  begin_node();
  use(x);
  use(y);
  if (needs_grad(it, left + 1, y)) keep(x);
  if (needs_grad(it, left, x)) keep(y);
  make({first->front(), (*first)[1], second->back()}, bytes(it, left));
  return true;
}

/// The settings are those of the library's own operation.
bool Tape::convolution(Parts inside) {
  for (const auto* part : inside) {
    const auto& it = trace_.signatures[part->signature];
    const auto results = convolution_results(it);
    if (!results) continue;
    const auto x = find(it, 0);
    auto& node = begin_node();
    use(x);
    keep(x);
    weight(it, 1, node);
    make(*results, bytes(it, 0));
    return true;
  }
  return false;
}

bool Tape::softmax(const Signature& it, bool is_log) {
  if (!has_tensor(it, 0)) return false;
  const auto x = find(it, 0);
  begin_node();
  use(x);
  if (is_log && x != none) output_ = at(x).cast_from != none ? at(x).cast_from : x;
  constexpr std::size_t half_to_float = 2;
  keep(
      make(*shape(it, 0), argument_is(it, half_to_float, "True") ? kept_rules::bytes_of_fp32 : bytes(it, 0)));
  return true;
}

bool Tape::embedding(const Signature& it) {
  const auto* table = shape(it, 0);
  const auto* indices = shape(it, 1);
  if (table == nullptr || indices == nullptr || table->size() != 2) return false;
  const auto index = find(it, 1);
  auto& node = begin_node();
  use(index);
  keep(index);
  if (has_node_) node.gradients = gradient_of(*table);
  auto result = *indices;
  result.push_back(table->back());
  make(result, bytes(it, 0));
  return true;
}

/// Handles gather(x, dimension, index), index_select(x, dimension, index) and index(x, a list of indices).
bool Tape::selection(const Signature& it, std::string_view name) {
  const auto* of = shape(it, 0);
  const std::size_t operand = name == "index" ? 1 : 2;
  if (of == nullptr || operand >= it.operands.size() || it.operands[operand].shapes.size() != 1) return false;
  const auto& indices = it.operands[operand].shapes.front();
  const auto x = find(it, 0);
  const auto index = find(indices, kept_rules::bytes_of_index);
  auto& node = begin_node();
  use(x);
  use(index);
  keep(index);
  if (x == none && has_node_) node.gradients = gradient_of(*of);
  auto result = *of;
  if (name == "gather") result = indices;
  if (name == "index_select" && !result.empty())
    result[dimension(it, 1, result.size())] = static_cast<std::int64_t>(element_count(indices));
  if (name == "index" && !result.empty()) {
    result.erase(result.begin());
    result.insert(result.begin(), indices.begin(), indices.end());
  }
  make(result, bytes(it, 0));
  return true;
}

bool Tape::placement(const Signature& it, std::string_view name) {
  begin_node();
  for (std::size_t i = 0; i < it.operands.size(); ++i) {
    const auto tensor = find(it, i);
    use(tensor);
    if (bytes(it, i) == kept_rules::bytes_of_index) keep(tensor);
  }
  if (!name.ends_with('_') && has_tensor(it, 0)) make(*shape(it, 0), bytes(it, 0));
  return true;
}

/// Returns numbers and their positions, which are kept.
bool Tape::sort(const Signature& it, bool is_top) {
  if (!has_tensor(it, 0)) return false;
  auto result = *shape(it, 0);
  const auto most = whole_numbers(it, 1);
  if (is_top && most.size() == 1) result[dimension(it, 2, result.size())] = most.front();
  const auto x = find(it, 0);
  begin_node();
  use(x);
  if (has_node_) make_kept(element_count(result), kept_rules::bytes_of_index);
  make(result, bytes(it, 0));
  return true;
}

/// Product of rows with the weights of their experts.
bool Tape::grouped_product(const Signature& it) {
  const auto* rows = shape(it, 0);
  const auto* weights = shape(it, 1);
  if (rows == nullptr || weights == nullptr || rows->size() != 2 || weights->size() != 3) return false;
  const auto x = find(it, 0, {.of_product = true});
  auto& node = begin_node();
  use(x);
  keep(x);
  weight(it, 1, node);
  make({rows->front(), weights->back()}, bytes(it, 0), MadeBy::product);
  return true;
}

bool Tape::halves(const Signature& it) {
  if (!has_tensor(it, 0)) return false;
  auto result = *shape(it, 0);
  const auto along = it.values.size() > 1 ? dimension(it, 1, result.size()) : result.size() - 1;
  result[along] /= 2;
  const auto x = find(it, 0);
  begin_node();
  use(x);
  keep(x);
  make(result, bytes(it, 0));
  return true;
}

bool Tape::upsample(const Signature& it) {
  const auto* of = shape(it, 0);
  const auto sides = whole_numbers(it, 1);
  if (of == nullptr || of->size() != sides.size() + 2) return false;
  const auto x = find(it, 0);
  begin_node();
  use(x);
  Shape result{(*of)[0], (*of)[1]};
  result.insert(result.end(), sides.begin(), sides.end());
  make(result, bytes(it, 0));
  return true;
}

bool Tape::dropout(const Signature& it) {
  if (!has_tensor(it, 0)) return false;
  const auto& of = *shape(it, 0);
  const auto x = find(it, 0);
  begin_node();
  use(x);
  if (has_node_) make_kept(element_count(of), 1);
  make(of, bytes(it, 0));
  return true;
}

/// Fills a tensor that was created empty with noise; a product then keeps it.
bool Tape::bernoulli(const Signature& it) {
  if (!has_tensor(it, 0)) return false;
  const auto x = find(it, 0, {.only_unused = true, .of_any_shape = false});
  begin_node();
  if (x == none) {
    make(*shape(it, 0), bytes(it, 0));
    made_.back().needs_grad = false;
  }
  return true;
}

bool Tape::reduce(const Signature& it, bool keeps_input) {
  if (!has_tensor(it, 0)) return true;
  const auto& of = *shape(it, 0);
  const auto x = find(it, 0);
  begin_node();
  use(x);
  if (keeps_input) keep(x);
  auto over = whole_numbers(it, 1);
  constexpr std::size_t image = 4;
  if (it.values.empty())
    over = of.size() == image ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{-1};
  Shape result;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto here = static_cast<std::int64_t>(i);
    const auto count = static_cast<std::int64_t>(of.size());
    const bool goes = over.empty() ||
                      std::ranges::any_of(over, [&](auto one) { return one == here || one + count == here; });
    if (!goes) result.push_back(of[i]);
    if (goes && argument_is(it, 2, "True")) result.push_back(1);
  }
  if (result.empty()) result = {1};
  make(result, bytes(it, 0));
  return true;
}

bool Tape::concatenate(const Signature& it, bool is_stack) {
  if (it.operands.empty() || it.operands.front().shapes.empty()) return false;
  const auto& parts = it.operands.front().shapes;
  int width = 0;
  begin_node();
  for (const auto& part : parts) {
    auto newest = none;
    for (const int candidate : {2, kept_rules::bytes_of_fp32, kept_rules::bytes_of_index,
                                1})  // A list does not give the type of its tensors.
      newest = std::max(newest, find(part, candidate));
    use(newest);
    if (newest != none) width = std::max(width, at(newest).bytes);
  }
  auto result = *std::ranges::max_element(parts, {}, &Shape::size);
  if (is_stack) {
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(dimension(it, 1, result.size() + 1)),
                  static_cast<std::int64_t>(parts.size()));
  } else if (!result.empty()) {
    const auto along = dimension(it, 1, result.size());
    result[along] = 0;
    for (const auto& part : parts) result[along] += part.size() == result.size() ? part[along] : 0;
  }
  make(result, width == 0 ? kept_rules::bytes_of_fp32 : width);
  return true;
}

bool Tape::filled(const Signature& it, Parts inside) {
  // Hugging Face's decoders shift their labels in this way in their forward pass. Training loops then use the
  // returned loss and free the logits, as its Trainer does.
  constexpr std::size_t value = 2;
  constexpr std::string_view ignored_label = "-100";
  if (value < it.values.size() && it.values[value].starts_with(ignored_label)) returns_loss_ = true;
  const auto x = find(it, 0);
  begin_node();
  use(x);
  for (const auto* part : inside) {
    const auto& created = trace_.signatures[part->signature];
    if (created.name != "aten::empty") continue;
    make(whole_numbers(created, 0), bytes(it, 0));
    break;
  }
  return true;
}

bool Tape::max_pool(const Signature& it) {
  const auto results = pool_results(it);
  if (!results) return false;
  const auto x = find(it, 0);
  begin_node();
  use(x);
  keep(x);
  if (has_node_) make_kept(element_count(*results), kept_rules::bytes_of_index);
  make(*results, bytes(it, 0));
  return true;
}

bool Tape::average_pool(const Signature& it) {
  const auto* of = shape(it, 0);
  if (of == nullptr || of->size() != 4) return false;
  auto results = pool_results(it);
  if (it.name.find("adaptive") != std::string::npos) {
    const auto sides = whole_numbers(it, 1);
    if (sides.empty()) return false;
    results = Shape{(*of)[0], (*of)[1], sides.front(), sides.back()};
  }
  if (!results) return false;
  const auto x = find(it, 0);
  begin_node();
  use(x);
  keep(x);
  make(*results, bytes(it, 0));
  return true;
}

}  // namespace gradway
