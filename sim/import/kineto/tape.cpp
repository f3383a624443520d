// SPDX-License-Identifier: Apache-2.0
#include "sim/import/kineto/tape.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <tuple>

#include "sim/import/kineto/operation_work.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {
namespace {

using kept_rules::Keeps;

constexpr int bytes_of_fp32 = 4;
constexpr int bytes_of_index = 8;

double numbers_in(const Operand::Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>{});
}

int bytes(const Signature& it, std::size_t operand) {
  return operand < it.operands.size() ? element_bytes(it.operands[operand].type) : 0;
}

const Operand::Shape* shape(const Signature& it, std::size_t operand) {
  if (operand >= it.operands.size() || it.operands[operand].shapes.size() != 1) return nullptr;
  return &it.operands[operand].shapes.front();
}

}  // namespace

bool Tape::take(const TracedOperation& operation, std::span<const TracedOperation* const> inside) {
  const auto& it = trace_.signatures[operation.signature];
  constexpr std::string_view space = "aten::";
  if (!it.name.starts_with(space)) return false;
  const auto name = std::string_view{it.name}.substr(space.size());
  const auto rule = std::ranges::find(kept_rules::rules, name, &kept_rules::Rule::operation);
  if (rule != kept_rules::rules.end()) return by_rule(it, *rule);
  if (kept_rules::is_among(name, kept_rules::norms)) return norm(it);
  if (kept_rules::is_among(name, kept_rules::losses)) return loss(it);
  if (name == "_to_copy") return cast(it, inside);
  if (name == "addmm" || name == "_addmm_activation") return product(it, 1);
  if (name == "mm") return product(it, 0);
  if (name == "bmm" || name == "baddbmm") return batched_product(it, name == "bmm" ? 0 : 1);
  if (name == "_log_softmax") return log_softmax(it);
  if (name == "embedding") return embedding(it);
  if (name == "native_dropout" || name == "bernoulli_") return mask(it, name == "native_dropout");
  if (name == "mean" || name == "sum") return reduce(it);
  if (name == "cat" || name == "stack") return concatenate(it);
  if (name == "max_pool2d_with_indices") return max_pool(it);
  if (const auto results = convolution_results(it)) return convolution(it, *results);
  if (name.starts_with("_scaled_dot_product")) return attention(it);
  return kept_rules::is_among(name, kept_rules::harmless);
}

double Tape::gradient_of(const Operand::Shape& shape) const {
  const auto found = std::ranges::find_if(profile_.gradients, [&](const ProfiledGradient& gradient) {
    return gradient.shape == shape ||
           std::ranges::equal(gradient.shape.rbegin(), gradient.shape.rend(), shape.begin(), shape.end());
  });
  return found == profile_.gradients.end() ? 0 : numbers_in(shape) * found->element_bytes;
}

/// As it is, or transposed.
bool Tape::is_parameter(const Operand::Shape& shape) const {
  return is_of_parameters_.is_shape(shape) || is_of_parameters_.is_shape({shape.rbegin(), shape.rend()});
}

int Tape::make(double elements, int bytes, bool is_weight) {
  made_.push_back(
      {.elements = elements, .bytes = bytes, .is_weight = is_weight, .made = now(), .last_use = now()});
  const auto made = static_cast<int>(made_.size()) - 1;
  by_size_[{elements, bytes, is_weight}].push_back(made);
  return made;
}

void Tape::make_kept(double elements, int bytes) {
  const auto made = make(elements, bytes);
  at(made).needs_grad = false;
  keep(made);
}

int Tape::find(double elements, int bytes, bool is_weight, int before) const {
  const auto known = by_size_.find({elements, bytes, is_weight});
  if (known == by_size_.end()) return none;
  const auto& all = known->second;
  const auto end = before == none ? all.end() : std::ranges::lower_bound(all, before);
  return end == all.begin() ? none : *std::prev(end);
}

int Tape::find(const Signature& it, std::size_t operand) const {
  const auto* of = shape(it, operand);
  return of == nullptr || of->empty() ? none : find(numbers_in(*of), bytes(it, operand));
}

void Tape::use(int tensor) {
  if (tensor == none) return;
  at(tensor).last_use = now();
  if (at(tensor).needs_grad) at(tensor).consumer = now();
}

void Tape::keep(int tensor) {
  if (tensor != none && at(tensor).saved_for == none) at(tensor).saved_for = now();
}

bool Tape::by_rule(const Signature& it, const kept_rules::Rule& rule) {
  const auto* first = shape(it, 0);
  const auto* second = shape(it, 1);
  if (first == nullptr || (first->empty() && (second == nullptr || second->empty()))) return true;
  auto x = find(it, 0);
  auto y = find(it, 1);
  if (x == y && x != none) y = find(at(x).elements, at(x).bytes, false, x);
  begin();
  use(x);
  if (second != nullptr) use(y);
  if (rule.keeps == Keeps::input || rule.keeps == Keeps::inputs) keep(x);
  if (rule.keeps == Keeps::inputs) keep(y);
  if (rule.in_place) {
    if (rule.keeps == Keeps::result) keep(x);
    return true;
  }
  const bool has_second = second != nullptr && !second->empty();
  const auto result =
      make(has_second ? std::max(numbers_in(*first), numbers_in(*second)) : numbers_in(*first),
           has_second ? std::max(bytes(it, 0), bytes(it, 1)) : bytes(it, 0));
  if (rule.keeps == Keeps::result) keep(result);
  return true;
}

bool Tape::norm(const Signature& it) {
  const auto* input = shape(it, 0);
  if (input == nullptr) return false;
  const auto x = find(it, 0);
  auto& node = begin();
  use(x);
  keep(x);
  double channels = 0;
  for (std::size_t i = 1; i < it.operands.size(); ++i) {
    const auto* of = shape(it, i);
    if (of == nullptr || of->empty() || !is_parameter(*of)) continue;
    channels = numbers_in(*of);
  }
  constexpr double weight_and_bias = 2;
  node.gradients = weight_and_bias * gradient_of({static_cast<std::int64_t>(channels)});
  const bool by_channel = it.name.find("batch_norm") != std::string::npos;
  make_kept(2 * (by_channel ? channels : numbers_in(*input) / std::max(1.0, channels)), bytes_of_fp32);
  make(numbers_in(*input), bytes(it, 0));
  return true;
}

bool Tape::loss(const Signature& it) {
  const auto x = find(it, 0);
  const auto y = find(it, 1);
  begin();
  for (const auto tensor : {x, y}) {
    use(tensor);
    keep(tensor);
  }
  make(1, bytes_of_fp32);
  return true;
}

bool Tape::cast(const Signature& it, std::span<const TracedOperation* const> inside) {
  for (const auto* part : inside) {
    const auto& copy = trace_.signatures[part->signature];
    if (copy.name != "aten::copy_") continue;
    const auto* of = shape(it, 0);
    if (of == nullptr || bytes(copy, 0) == bytes(copy, 1)) return true;
    const auto x = is_of_parameters_(it) ? none : find(it, 0);
    begin();
    use(x);
    const auto result = make(numbers_in(*of), bytes(copy, 0), is_of_parameters_(it));
    at(result).needs_grad = x != none && at(x).needs_grad;
    at(result).cast_from = x;
    return true;
  }
  return true;
}

void Tape::weight(const Signature& it, std::size_t operand, Noted& node) {
  const auto* of = shape(it, operand);
  const auto copy = find(numbers_in(*of), bytes(it, operand), true);
  node.gradients = gradient_of(*of);
  if (copy == none) return;
  at(copy).last_use = now();
  keep(copy);
  node.temporary = at(copy).size();
}

bool Tape::product(const Signature& it, std::size_t left) {
  const auto* rows = shape(it, left);
  const auto* columns = shape(it, left + 1);
  if (rows == nullptr || columns == nullptr || rows->size() != 2 || columns->size() != 2) return false;
  const auto x = find(it, left);
  auto& node = begin();
  use(x);
  keep(x);
  if (is_parameter(*columns)) {
    weight(it, left + 1, node);
  } else {
    const auto y = find(it, left + 1);
    use(y);
    keep(y);
  }
  make(static_cast<double>(rows->front()) * static_cast<double>(columns->back()), bytes(it, left));
  return true;
}

bool Tape::batched_product(const Signature& it, std::size_t left) {
  const auto* first = shape(it, left);
  const auto* second = shape(it, left + 1);
  if (first == nullptr || second == nullptr || first->size() != 3 || second->size() != 3) return false;
  const auto x = find(it, left);
  const auto y = find(it, left + 1);
  begin();
  for (const auto tensor : {x, y}) {
    use(tensor);
    keep(tensor);
  }
  make(numbers_in(*first) / static_cast<double>(std::max<std::int64_t>(1, first->back())) *
           static_cast<double>(second->back()),
       bytes(it, left));
  return true;
}

bool Tape::convolution(const Signature& it, double results) {
  const auto x = find(it, 0);
  auto& node = begin();
  use(x);
  keep(x);
  weight(it, 1, node);
  make(results, bytes(it, 0));
  return true;
}

bool Tape::log_softmax(const Signature& it) {
  const auto x = find(it, 0);
  if (x == none) return false;
  begin();
  use(x);
  output_ = at(x).cast_from != none ? at(x).cast_from : x;
  keep(make(at(x).elements, at(x).bytes));
  return true;
}

bool Tape::embedding(const Signature& it) {
  const auto* table = shape(it, 0);
  const auto* indices = shape(it, 1);
  if (table == nullptr || indices == nullptr || table->size() != 2) return false;
  begin().gradients = gradient_of(*table);
  make(numbers_in(*indices) * static_cast<double>(table->back()), bytes(it, 0));
  return true;
}

bool Tape::mask(const Signature& it, bool is_fused) {
  const auto* of = shape(it, 0);
  if (of == nullptr) return false;
  const auto x = find(it, 0);
  begin();
  use(x);
  if (is_fused) {
    make_kept(numbers_in(*of), 1);
  } else {
    keep(x);  // the mask is as large: what it changes is as if it were new
  }
  make(numbers_in(*of), bytes(it, 0));
  return true;
}

bool Tape::reduce(const Signature& it) {
  const auto* of = shape(it, 0);
  if (of == nullptr || of->empty()) return true;
  const auto x = find(it, 0);
  begin();
  use(x);
  constexpr std::size_t image = 4;
  const auto over = of->size() == image ? (*of)[2] * (*of)[3] : of->back();
  make(numbers_in(*of) / static_cast<double>(std::max<std::int64_t>(1, over)), bytes(it, 0));
  return true;
}

bool Tape::concatenate(const Signature& it) {
  if (it.operands.empty() || it.operands.front().shapes.empty()) return false;
  double elements = 0;
  int width = 0;
  begin();
  for (const auto& part : it.operands.front().shapes) {
    elements += numbers_in(part);
    for (const int candidate : {bytes_of_fp32, 2}) {  // a list does not tell the type of its tensors
      const auto x = find(numbers_in(part), candidate);
      use(x);
      if (x != none) width = std::max(width, candidate);
    }
  }
  make(elements, width == 0 ? bytes_of_fp32 : width);
  return true;
}

bool Tape::max_pool(const Signature& it) {
  const auto* of = shape(it, 0);
  const auto results = pool_results(it);
  if (of == nullptr || !results) return false;
  const auto x = find(it, 0);
  begin();
  use(x);
  keep(x);
  make_kept(*results, bytes_of_index);
  make(*results, bytes(it, 0));
  return true;
}

bool Tape::attention(const Signature& it) {
  const auto* queries = shape(it, 0);
  const auto* keys = shape(it, 1);
  if (queries == nullptr || keys == nullptr || queries->size() != 4) return false;
  const auto width = bytes(it, 0);
  const auto elements = numbers_in(*queries);
  const auto packed = find(elements + 2 * numbers_in(*keys), width);
  std::array<int, 3> parts{packed, none, none};
  if (packed == none) {
    const auto v = find(numbers_in(*keys), width);
    const auto k = v == none ? none : find(numbers_in(*keys), width, false, v);
    const auto q =
        *queries == *keys ? (k == none ? none : find(elements, width, false, k)) : find(elements, width);
    parts = {q, k, v};
  }
  begin();
  for (const auto part : parts) {
    use(part);
    keep(part);
  }
  make_kept(elements / static_cast<double>(std::max<std::int64_t>(1, queries->back())), bytes_of_fp32);
  keep(make(elements, width));
  return true;
}

std::vector<ProfiledMoment> Tape::moments() const {
  const auto count = static_cast<std::int32_t>(nodes_.size());
  MemoryTimeline grows{count};
  MemoryTimeline fixed{count};
  MemoryTimeline output{count};
  for (const auto& it : made_) {
    auto& line = it.is_weight ? fixed : grows;
    const bool is_output = &it - made_.data() == output_;  // the call of the loss holds it while it runs
    const auto last = it.saved_for != none ? line.back(it.saved_for) : is_output ? count - 1 : it.last_use;
    line.hold(it.made, last, it.size());
    if (it.needs_grad && it.consumer != none)
      line.hold(line.back(it.consumer), line.back(std::max(it.made, 0)), it.size());
    if (is_output && last < 2 * count - 1) output.hold(last + 1, 2 * count - 1, it.size());
  }
  std::vector<double> gradients(2 * nodes_.size(), 0);
  for (std::int32_t n = 0; n < count; ++n) {
    const auto& node = nodes_[static_cast<std::size_t>(n)];
    fixed.pass(n, 0, node.temporary);
    gradients[static_cast<std::size_t>(fixed.back(n))] = node.gradients;
  }
  const auto [of_batch, of_none, of_output] = std::tuple{grows.sums(), fixed.sums(), output.sums()};
  std::vector<ProfiledMoment> moments;
  double ready = 0;
  for (std::size_t i = 0; i < of_batch.size(); ++i) {
    moments.push_back({.phase = i < nodes_.size() ? ProfiledPhase::forward : ProfiledPhase::backward,
                       .grows = Bytes{std::max(0.0, of_batch[i])},
                       .fixed = Bytes{std::max(0.0, of_none[i])},
                       .gradients = Bytes{ready += gradients[i]},
                       .output = Bytes{std::max(0.0, of_output[i])}});
  }
  return moments;
}

}  // namespace gradway
