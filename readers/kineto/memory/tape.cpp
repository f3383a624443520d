// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/memory/tape.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "readers/kineto/memory/step_memory.hpp"
#include "readers/kineto/work/operation_work.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

AutogradNodes::AutogradNodes(std::span<const TracedOperation* const> forward,
                             const std::set<std::int64_t>& ran, std::int64_t number_offset) {
  std::unordered_map<std::int64_t, const TracedOperation*> last;
  for (const auto* operation : forward) {
    if (operation->sequence > 0) last[operation->sequence - number_offset] = operation;
  }
  for (const auto& [number, operation] : last) {
    if (ran.contains(number)) owners_.insert(operation);
  }
  known_ = !owners_.empty();
}

bool AutogradNodes::has_any(std::span<const TracedOperation* const> operations) const {
  return std::ranges::any_of(operations, [&](const TracedOperation* operation) { return has(*operation); });
}

double Tape::gradient_of(const Shape& shape) const {
  const auto profiled = std::ranges::find_if(profile_.gradients, [&](const ProfiledGradient& gradient) {
    return gradient.shape == shape ||
           std::ranges::equal(gradient.shape.rbegin(), gradient.shape.rend(), shape.begin(), shape.end());
  });
  return profiled == profile_.gradients.end() ? 0 : element_count(shape) * profiled->element_bytes;
}

/// Whether the shape or its transpose is that of a parameter.
bool Tape::is_parameter(const Shape& shape) const {
  return parameters_.contains(shape) || parameters_.contains({shape.rbegin(), shape.rend()});
}

int Tape::make(const Shape& shape, int bytes, MadeBy maker) {
  made_.push_back({.elements = element_count(shape),
                   .bytes = bytes,
                   .needs_grad = has_node_,
                   .by = maker,
                   .made = current_node(),
                   .last_use = current_node()});
  const auto made = static_cast<int>(made_.size()) - 1;
  show_as(made, shape);
  return made;
}

void Tape::show_as(int tensor, const Shape& shape) {
  views_.push_back({shape, tensor});
  by_size_[{element_count(shape), at(tensor).bytes}].push_back(static_cast<int>(views_.size()) - 1);
}

void Tape::make_kept(double elements, int bytes) {
  made_.push_back({.elements = elements,
                   .bytes = bytes,
                   .needs_grad = false,
                   .made = current_node(),
                   .last_use = current_node()});
  keep(static_cast<int>(made_.size()) - 1);
}

int Tape::find(const Shape& shape, int bytes, const WantedTensor& wanted) const {
  const auto known = by_size_.find({element_count(shape), bytes});
  if (shape.empty() || known == by_size_.end()) return none;
  constexpr std::size_t max_searched = 64;  // Older tensors have been freed.
  const auto& candidates = known->second;
  const auto first = candidates.size() - std::min(candidates.size(), max_searched);
  for (const bool exact : {true, false}) {
    if (!exact && !wanted.of_any_shape) break;
    for (auto i = candidates.size(); i > first; --i) {
      const auto& view = views_[static_cast<std::size_t>(candidates[i - 1])];
      const auto& tensor = at(view.tensor);
      const bool fits = (!exact || view.shape == shape) && !tensor.is_weight &&
                        std::ranges::find(wanted.except, view.tensor) == wanted.except.end() &&
                        !(tensor.by == MadeBy::part_of_expression && tensor.uses > 0) &&
                        !(wanted.of_product && tensor.by == MadeBy::product) &&
                        !(wanted.only_unused && tensor.uses > 0);
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
  auto& used = at(tensor);
  ++used.uses;
  used.last_use = current_node();
  if (used.needs_grad) used.consumer = current_node();
}

void Tape::keep(int tensor) {
  if (tensor != none && has_node_ && at(tensor).saved_for == none) at(tensor).saved_for = current_node();
}

const Tape::CheckpointSpan* Tape::call_that_made(const ForwardTensor& tensor) const {
  const auto call =
      std::ranges::find_if(calls_, [&](const CheckpointSpan& candidate) { return candidate.made(tensor); });
  return call == calls_.end() ? nullptr : &*call;
}

void Tape::end_recomputed(bool is_reentrant) {
  auto call = std::exchange(recomputed_, {});
  call.last = current_node();
  call.is_reentrant = is_reentrant;
  for (auto& tensor : made_) {
    if (call.made(tensor)) {
      tensor.needs_grad = !tensor.is_weight;  // Applies if an operation uses it later.
    } else if (tensor.last_use >= call.first && (tensor.saved_for == none || tensor.saved_for > call.first)) {
      tensor.saved_for = call.first;
    }
  }
  for (auto n = call.first; n <= call.last; ++n) nodes_[static_cast<std::size_t>(n)] = {};
  calls_.push_back(call);
}

void Tape::begin_recomputation(const Tape& outer, std::size_t call) {
  const auto& span = outer.calls_[call];
  std::map<int, int> seen;
  for (const auto& view : outer.views_) {
    const auto& tensor = outer.at(view.tensor);
    const bool ends_take = tensor.made < span.first && tensor.last_use >= span.first && !tensor.is_weight;
    if (!ends_take) continue;
    const auto [known, is_new] = seen.emplace(view.tensor, static_cast<int>(made_.size()));
    if (is_new) {
      made_.push_back({.elements = tensor.elements,
                       .bytes = tensor.bytes,
                       .needs_grad = tensor.needs_grad,
                       .by = tensor.by,
                       .made = current_node(),
                       .last_use = current_node(),
                       .is_elsewhere = true});
    }
    show_as(known->second, view.shape);
  }
}

void Tape::end_recomputation(const Tape& outer, std::size_t call) {
  const auto& span = outer.calls_[call];
  if (span.is_reentrant) {
    // The node holds what it has recomputed until it ends.
    if (!made_.empty()) made_.back().saved_for = 0;
    return;
  }
  for (const auto& tensor : outer.made_) {
    if (!span.made(tensor) || tensor.consumer <= span.last) continue;
    const auto same = std::ranges::find_if(made_, [&](const ForwardTensor& candidate) {
      return candidate.made == tensor.made - span.first && candidate.elements == tensor.elements &&
             candidate.bytes == tensor.bytes;
    });
    if (same != made_.end() && same->needs_grad) same->consumer = current_node();
  }
}

std::vector<ProfiledMoment> Tape::moments_with(std::span<const std::vector<ProfiledMoment>> calls) const {
  const auto own_moments = moments();
  const auto count = nodes_.size();
  std::vector<ProfiledMoment> merged{own_moments.begin(),
                                     own_moments.begin() + static_cast<std::ptrdiff_t>(count)};
  Bytes ready{};
  for (auto n = static_cast<int>(count) - 1; n >= 0; --n) {
    const auto back = [&](int node) { return own_moments[2 * count - 1 - static_cast<std::size_t>(node)]; };
    const auto call = std::ranges::find(calls_, n, &CheckpointSpan::last);
    if (call == calls_.end() || call->first > n) {
      auto& moment = merged.emplace_back(back(n));
      moment.gradients += ready;
      continue;
    }
    const auto& inside = calls[static_cast<std::size_t>(call - calls_.begin())];
    const auto nodes = static_cast<int>(inside.size()) / 2;
    for (int i = 0; i < 2 * nodes; ++i) {
      const auto node = std::min(2 * nodes - 1 - i, call->last - call->first - 1);
      auto moment = back(i < nodes ? call->last : call->first + std::max(0, node));
      const auto& added = inside[static_cast<std::size_t>(i)];
      moment.grows += added.grows;
      moment.fixed += added.fixed;
      moment.gradients += ready + added.gradients;
      merged.push_back(moment);
    }
    if (!inside.empty()) ready += inside.back().gradients;
    n = call->first;
  }
  return merged;
}

std::vector<ProfiledMoment> Tape::moments() const {
  const auto count = static_cast<std::int32_t>(nodes_.size());
  MemoryTimeline grows{count};
  MemoryTimeline fixed{count};
  MemoryTimeline output{count};
  for (const auto& tensor : made_) {
    auto& line = tensor.is_weight ? fixed : grows;
    const bool is_output = &tensor - made_.data() == output_;  // The call of the loss holds it while it runs.
    const auto last = tensor.saved_for != none ? line.back(tensor.saved_for)
                      : is_output              ? count - 1
                                               : tensor.last_use;
    const auto* call = call_that_made(tensor);
    // Autocast holds the copies of weights until the end of the forward pass.
    line.hold(tensor.made, call != nullptr && tensor.is_weight ? std::max(last, count - 1) : last,
              tensor.size());
    if (tensor.needs_grad && tensor.consumer != none && !tensor.has_view_as_gradient) {
      const auto until = call == nullptr ? tensor.made : call->is_reentrant ? call->first : call->last;
      line.hold(line.back(tensor.consumer), line.back(std::max(until, 0)), tensor.size());
    }
    if (is_output && !returns_loss_ && last < 2 * count - 1)
      output.hold(last + 1, 2 * count - 1, tensor.size());
  }
  std::vector<double> gradients(2 * nodes_.size(), 0);
  for (std::int32_t n = 0; n < count; ++n) {
    const auto& node = nodes_[static_cast<std::size_t>(n)];
    fixed.pass(n, 0, node.temporary);
    grows.pass(n, 0, node.activations);
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
