// SPDX-License-Identifier: Apache-2.0
// A captured step at sequence lengths between and beyond those of two captures.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/workload/captured/captured_step.hpp"

namespace gradway {
namespace {

bool has_same_tensors(const std::vector<CapturedTensor>& first, const std::vector<CapturedTensor>& second) {
  return std::ranges::equal(first, second, [](const auto& a, const auto& b) {
    return a.type == b.type && a.shape.size() == b.shape.size();
  });
}

std::string difference(const std::vector<CapturedOperation>& first,
                       const std::vector<CapturedOperation>& second, const std::string& layer) {
  if (first.size() != second.size())
    return fmt::format("'{}' has {} operations in one and {} in the other", layer, first.size(),
                       second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].name != second[i].name)
      return fmt::format("'{}' issues '{}' in one and '{}' in the other", layer, first[i].name,
                         second[i].name);
    if (!has_same_tensors(first[i].inputs, second[i].inputs) ||
        !has_same_tensors(first[i].outputs, second[i].outputs))
      return fmt::format("tensors of '{}' in '{}' have other types or dimensions", first[i].name, layer);
  }
  return "";
}

/// Values at one sequence length from those at two others.
class BetweenSequences {
 public:
  BetweenSequences(double first, double second, double sequence)
      : first_{first}, second_{second}, at_{sequence} {}

  double linear(double a, double b) const { return a + (b - a) * (at_ - first_) / (second_ - first_); }

  /// Memory of tensors with the sequence as one dimension or as two; linear if it grows more slowly than
  /// that.
  Bytes memory(Bytes a, Bytes b) const {
    const auto of_square = (b.value() / second_ - a.value() / first_) / (second_ - first_);
    const auto of_side = a.value() / first_ - of_square * first_;
    if (of_square < 0 || of_side < 0) return Bytes{std::max(0.0, linear(a.value(), b.value()))};
    return Bytes{at_ * (of_side + of_square * at_)};
  }
  /// Memory of parameters' copies and of tensors without the batch.
  Bytes fixed(Bytes a, Bytes b) const { return Bytes{std::max(0.0, linear(a.value(), b.value()))}; }

  void resize(std::vector<CapturedTensor>& tensors, const std::vector<CapturedTensor>& second) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      auto& shape = tensors[i].shape;
      for (std::size_t j = 0; j < shape.size(); ++j) {
        const auto side = linear(static_cast<double>(shape[j]), static_cast<double>(second[i].shape[j]));
        shape[j] = std::max<std::int64_t>(0, std::llround(side));
      }
    }
  }

  void resize(std::vector<CapturedOperation>& operations,
              const std::vector<CapturedOperation>& second) const {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      resize(operations[i].inputs, second[i].inputs);
      resize(operations[i].outputs, second[i].outputs);
    }
  }

 private:
  double first_;
  double second_;
  double at_;
};

/// The largest amounts of any moments.
CapturedMoment largest(const std::vector<CapturedMoment>& moments) {
  CapturedMoment most;
  for (const auto& moment : moments) {
    most.grows = std::max(most.grows, moment.grows);
    most.fixed = std::max(most.fixed, moment.fixed);
  }
  return most;
}

}  // namespace

std::string difference(const CapturedStep& first, const CapturedStep& second) {
  if (first.batch != second.batch)
    return fmt::format("one has a batch of {}, the other of {}", first.batch, second.batch);
  if (first.sequence == second.sequence) return fmt::format("both have {} tokens", first.sequence);
  if (first.layers.size() != second.layers.size())
    return fmt::format("one has {} modules, the other {}", first.layers.size(), second.layers.size());
  for (std::size_t i = 0; i < first.layers.size(); ++i) {
    const auto& a = first.layers[i];
    const auto& b = second.layers[i];
    if (a.name != b.name) return fmt::format("one calls '{}' where the other calls '{}'", a.name, b.name);
    for (const auto& mismatch :
         {difference(a.forward, b.forward, a.name), difference(a.backward, b.backward, a.name)})
      if (!mismatch.empty()) return mismatch;
  }
  return "";
}

CapturedStep at_sequence(const CapturedStep& captured, int sequence) {
  const auto& second = *captured.second;
  const BetweenSequences between{static_cast<double>(captured.sequence), static_cast<double>(second.sequence),
                                 static_cast<double>(sequence)};
  auto step = captured;
  step.sequence = sequence;
  step.second = nullptr;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    between.resize(step.layers[i].forward, second.layers[i].forward);
    between.resize(step.layers[i].backward, second.layers[i].backward);
  }
  // Only moments that can be the peak are recorded, so their number may depend on the sequence length.
  const bool is_same = step.memory.size() == second.memory.size();
  const auto first_peak = largest(captured.memory);
  const auto second_peak = largest(second.memory);
  for (std::size_t i = 0; i < step.memory.size(); ++i) {
    const auto& first = is_same ? captured.memory[i] : first_peak;
    const auto& second_moment = is_same ? second.memory[i] : second_peak;
    const auto ratio = [](Bytes target, Bytes from) { return from > 0_B ? target / from : 1; };
    auto& moment = step.memory[i];
    moment.grows = moment.grows * ratio(between.memory(first.grows, second_moment.grows), first.grows);
    moment.fixed = moment.fixed * ratio(between.fixed(first.fixed, second_moment.fixed), first.fixed);
  }
  return step;
}

}  // namespace gradway
