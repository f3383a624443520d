// SPDX-License-Identifier: Apache-2.0
#include "sim/import/kineto/tape.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "sim/import/kineto/operation_work.hpp"
#include "sim/import/kineto/step_moments.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

AutogradNodes::AutogradNodes(const Trace& trace, const TracedStep& step,
                             std::span<const TracedOperation* const> forward) {
  std::unordered_map<std::int64_t, const TracedOperation*> last;
  for (const auto* operation : forward) {
    if (operation->sequence > 0) last[operation->sequence] = operation;
  }
  for (const auto& operation : trace.operations) {
    if (operation.sequence <= 0 || operation.start < step.begin || operation.start >= step.end) continue;
    const auto& name = trace.signatures[operation.signature].name;
    const bool is_node =
        name.starts_with("autograd::engine::evaluate_function") || name.find("Backward") != std::string::npos;
    const auto owner = is_node ? last.find(operation.sequence) : last.end();
    if (owner != last.end()) owners_.insert(owner->second);
  }
  known_ = !owners_.empty();
}

bool AutogradNodes::has_any(std::span<const TracedOperation* const> operations) const {
  return std::ranges::any_of(operations, [&](const TracedOperation* it) { return has(*it); });
}

double Tape::gradient_of(const Shape& shape) const {
  const auto found = std::ranges::find_if(profile_.gradients, [&](const ProfiledGradient& gradient) {
    return gradient.shape == shape ||
           std::ranges::equal(gradient.shape.rbegin(), gradient.shape.rend(), shape.begin(), shape.end());
  });
  return found == profile_.gradients.end() ? 0 : element_count(shape) * found->element_bytes;
}

/// As it is, or transposed.
bool Tape::is_parameter(const Shape& shape) const {
  return is_of_parameters_.is_shape(shape) || is_of_parameters_.is_shape({shape.rbegin(), shape.rend()});
}

int Tape::make(const Shape& shape, int bytes, MadeBy by) {
  made_.push_back({.elements = element_count(shape),
                   .bytes = bytes,
                   .needs_grad = has_node_,
                   .by = by,
                   .made = now(),
                   .last_use = now()});
  const auto made = static_cast<int>(made_.size()) - 1;
  show_as(made, shape);
  return made;
}

void Tape::show_as(int tensor, const Shape& shape) {
  views_.push_back({shape, tensor});
  by_size_[{element_count(shape), at(tensor).bytes}].push_back(static_cast<int>(views_.size()) - 1);
}

void Tape::make_kept(double elements, int bytes) {
  made_.push_back(
      {.elements = elements, .bytes = bytes, .needs_grad = false, .made = now(), .last_use = now()});
  keep(static_cast<int>(made_.size()) - 1);
}

int Tape::find(const Shape& shape, int bytes, const WantedTensor& wanted) const {
  const auto known = by_size_.find({element_count(shape), bytes});
  if (shape.empty() || known == by_size_.end()) return none;
  constexpr std::size_t most_looked_at = 64;  // what is further back has been freed
  const auto& all = known->second;
  const auto first = all.size() - std::min(all.size(), most_looked_at);
  for (const bool exact : {true, false}) {
    if (!exact && !wanted.of_any_shape) break;
    for (auto i = all.size(); i > first; --i) {
      const auto& view = views_[static_cast<std::size_t>(all[i - 1])];
      const auto& it = at(view.tensor);
      const bool fits = (!exact || view.shape == shape) && !it.is_weight &&
                        std::ranges::find(wanted.except, view.tensor) == wanted.except.end() &&
                        !(it.by == MadeBy::part_of_expression && it.uses > 0) &&
                        !(wanted.of_product && it.by == MadeBy::product) &&
                        !(wanted.only_unused && it.uses > 0);
      if (fits) return view.tensor;
    }
  }
  return none;
}

int Tape::find_weight(const Shape& shape, int bytes) const {
  const auto known = by_size_.find({element_count(shape), bytes});
  if (known == by_size_.end()) return none;
  for (auto view = known->second.rbegin(); view != known->second.rend(); ++view) {
    const auto tensor = views_[static_cast<std::size_t>(*view)].tensor;
    if (at(tensor).is_weight) return tensor;
  }
  return none;
}

void Tape::use(int tensor) {
  if (tensor == none) return;
  auto& it = at(tensor);
  ++it.uses;
  it.last_use = now();
  if (it.needs_grad) it.consumer = now();
}

void Tape::keep(int tensor) {
  if (tensor != none && has_node_ && at(tensor).saved_for == none) at(tensor).saved_for = now();
}

std::vector<ProfiledMoment> Tape::moments() const {
  const auto count = static_cast<std::int32_t>(noted_.size());
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
    if (is_output && !returns_loss_ && last < 2 * count - 1) output.hold(last + 1, 2 * count - 1, it.size());
  }
  std::vector<double> gradients(2 * noted_.size(), 0);
  for (std::int32_t n = 0; n < count; ++n) {
    const auto& node = noted_[static_cast<std::size_t>(n)];
    fixed.pass(n, 0, node.temporary);
    grows.pass(n, 0, node.activations);
    gradients[static_cast<std::size_t>(fixed.back(n))] = node.gradients;
  }
  const auto [of_batch, of_none, of_output] = std::tuple{grows.sums(), fixed.sums(), output.sums()};
  std::vector<ProfiledMoment> moments;
  double ready = 0;
  for (std::size_t i = 0; i < of_batch.size(); ++i) {
    moments.push_back({.phase = i < noted_.size() ? ProfiledPhase::forward : ProfiledPhase::backward,
                       .grows = Bytes{std::max(0.0, of_batch[i])},
                       .fixed = Bytes{std::max(0.0, of_none[i])},
                       .gradients = Bytes{ready += gradients[i]},
                       .output = Bytes{std::max(0.0, of_output[i])}});
  }
  return moments;
}

}  // namespace gradway
