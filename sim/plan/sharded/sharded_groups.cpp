// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/sharded/sharded_groups.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/plan/model_tasks.hpp"

namespace gradway {
namespace {

/// Number of the block of a module; none for the root.
std::int32_t block_of(Module module) {
  return module.kind == Module::Kind::model ? Blocks::none : module.index;
}

/// Elements with those that pad the sharded dimension to a multiple of `over`.
double padded_elements(const Parameter& parameter, int over, std::size_t sharded = 0) {
  const auto elements = static_cast<double>(parameter.elements());
  if (parameter.shape.empty()) return elements * over;
  const auto rows = parameter.shape[sharded];
  if (rows == 0) return 0;
  const auto padded_rows = (rows + over - 1) / over * over;
  return elements / static_cast<double>(rows) * static_cast<double>(padded_rows);
}

}  // namespace

WrappedModel::WrappedModel(const Model& model, const Wrap& wrap, int over, bool divides_experts)
    : blocks_{blocks_of(model)}, together_{wrap.blocks} {
  const auto count = together_ == 0 ? 0 : (blocks_.count + together_ - 1) / together_;
  groups_.resize(static_cast<std::size_t>(count) + 1);
  for (int g = 0; g < count; ++g) {
    auto& group = groups_[static_cast<std::size_t>(g)];
    group.first_block = g * together_;
    group.last_block = std::min((g + 1) * together_, blocks_.count) - 1;
    group.name = group.first_block == group.last_block
                     ? fmt::format("block {}", group.first_block)
                     : fmt::format("blocks {} to {}", group.first_block, group.last_block);
  }
  groups_.back().name = count == 0 ? "model" : "root";
  const auto group_of_layer = [&](std::size_t layer) -> ShardedGroup& {
    const auto block = blocks_.of_layer[layer];
    return block == Blocks::none || together_ == 0 ? groups_.back()
                                                   : groups_[static_cast<std::size_t>(block / together_)];
  };
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    for (const auto& [parameter, width] : model.layers[layer].frozen) {
      auto& group = group_of_layer(layer);
      const Bytes padded{width * padded_elements(parameter, over)};
      group.frozen += padded;
      largest_frozen_ = std::max(largest_frozen_, padded);
      ++group.frozen_tensors;
    }
  }
  for (const auto& gradient : gradients_in_order(model)) {
    const auto layer = static_cast<std::size_t>(gradient.layer);
    const auto& parameter = model.layers[layer].parameters[static_cast<std::size_t>(gradient.parameter)];
    auto& group = group_of_layer(layer);
    group.gradients.push_back(gradient);
    const auto elements = static_cast<double>(parameter.elements());
    group.elements += elements;
    in_order_.emplace_back(elements, static_cast<std::size_t>(&group - groups_.data()));
    const auto& model_layer = model.layers[layer];
    // @source torchtitan at 05a6cb38, models/llama4/infra/parallelize.py (_experts_shard_placement_fn)
    const bool by_rows = divides_experts && model_layer.is_of_experts && parameter.shape.size() > 1 &&
                         parameter.shape.front() < over;
    group.padded += padded_elements(parameter, over, by_rows ? 1 : 0);
    if (model_layer.takes_fp8 && !model_layer.is_of_experts && parameter.shape.size() > 1)
      group.in_fp8 += padded_elements(parameter, over);
  }
  add_up_padded();
}

WrappedModel WrappedModel::flat(const Model& model, const Wrap& wrap, int over, double width) {
  WrappedModel wrapped{model, wrap, over};
  for (auto& group : wrapped.groups_) {
    const auto frozen = std::exchange(group.frozen, 0_B).value() / width;
    group.padded = std::ceil((group.elements + frozen) / over) * over;
  }
  wrapped.add_up_padded();
  return wrapped;
}

std::optional<std::size_t> WrappedModel::group_of(Module module) const {
  const bool is_model = module.kind == Module::Kind::model;
  if (!is_model && (module.kind == Module::Kind::layer || groups_.size() == 1)) return std::nullopt;
  const auto group = is_model ? root() : static_cast<std::size_t>(module.index / together_);
  return groups_[group].is_empty() ? std::nullopt : std::optional{group};
}

std::optional<std::size_t> WrappedModel::begins_with(Module module) const {
  const auto group = group_of(module);
  return group && groups_[*group].first_block == block_of(module) ? group : std::nullopt;
}

std::optional<std::size_t> WrappedModel::ends_with(Module module) const {
  const auto group = group_of(module);
  return group && groups_[*group].last_block == block_of(module) ? group : std::nullopt;
}

std::vector<double> WrappedModel::made(double share) const {
  std::vector<double> made(groups_.size(), 0);
  double elements = 0;
  for (const auto& group : groups_) elements += share * group.elements;
  for (const auto& [of_gradient, group] : in_order_) {
    made[group] += std::min(elements, of_gradient);
    elements -= of_gradient;
    if (elements <= 0) break;
  }
  return made;
}

void WrappedModel::add_up_padded() {
  largest_padded_ = all_padded_ = 0;
  for (std::size_t i = 0; i < root(); ++i) largest_padded_ = std::max(largest_padded_, groups_[i].padded);
  for (const auto& group : groups_) all_padded_ += group.padded;
}

Bytes WrappedModel::frozen() const {
  Bytes size{};
  for (const auto& group : groups_) size += group.frozen;
  return size;
}

Bytes WrappedModel::largest_tensor(double width) const {
  auto largest = largest_frozen_;
  for (const auto& [elements, group] : in_order_) largest = std::max(largest, Bytes{width * elements});
  return largest;
}

std::vector<Unit> WrappedModel::units(double width) const {
  std::vector<Unit> units;
  for (const auto& group : groups_)
    units.push_back(
        {.gradients = group.gradients, .size = group.tensors() > 0 ? Bytes{width * group.padded} : 0_B});
  return units;
}

}  // namespace gradway
