// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/plan/sync.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {

/// Parameters that are gathered and reduced together.
struct ShardedGroup {
  std::string name;
  std::int32_t first_block = Blocks::none;  ///< none: the root's
  std::int32_t last_block = Blocks::none;
  std::vector<Unit::Gradient> gradients;  ///< in the order in which they get ready
  double elements = 0;
  /// With the padding of each rank's share: the first dimension of a parameter is cut into as many pieces of
  /// equal length as there are ranks, however few rows it has. @source
  /// torch/distributed/fsdp/_fully_shard/_fsdp_param.py, PyTorch 2.11
  double padded = 0;
  Bytes frozen{};          ///< of parameters that nobody trains, padded as the others
  int frozen_tensors = 0;  ///< they are gathered and not reduced
  double in_fp8 = 0;       ///< of them, those of weights that torchao can gather in fp8

  /// No hooks are called for it.
  bool is_empty() const { return gradients.empty() && frozen_tensors == 0; }
  int tensors() const { return static_cast<int>(gradients.size()); }
  int gathered_tensors() const { return tensors() + frozen_tensors; }
};

/// Bytes of an element in a format, if one is given.
inline double bytes_or(const std::optional<Number>& number, double otherwise) {
  return number ? bytes_of(*number) : otherwise;
}

/// The groups of a model: blocks in the order of the forward pass, some to a group; what belongs to no block
/// comes last, in the root's own group.
class WrappedModel {
 public:
  /// @param over so many ranks each group is cut
  WrappedModel(const Model& model, const Wrap& wrap, int over);

  /// The same for groups that are one flat tensor each, which alone is padded.
  static WrappedModel flat(const Model& model, const Wrap& wrap, int over);

  const Blocks& blocks() const { return blocks_; }
  std::size_t size() const { return groups_.size(); }
  std::size_t root() const { return groups_.size() - 1; }
  const ShardedGroup& operator[](std::size_t group) const { return groups_[group]; }
  /// @return the group that begins (ends) with a part of the model; nothing if it is in the midst of one, or
  /// has no parameters
  std::optional<std::size_t> begins_with(Module module) const;
  std::optional<std::size_t> ends_with(Module module) const;
  /// How many elements of each group's gradients are made when so many are of the model.
  std::vector<double> made(double elements) const;
  /// Of the largest group but the root's.
  double largest_padded() const;
  double all_padded() const;
  /// Of all groups.
  Bytes frozen() const;
  /// For reports. @param width bytes of an element on the way
  std::vector<Unit> units(double width) const;

 private:
  std::optional<std::size_t> group_of(Module module) const;
  std::vector<std::pair<double, std::size_t>> in_order_;  ///< of gradients as they get ready: elements, group

  Blocks blocks_;
  int together_;
  std::vector<ShardedGroup> groups_;
};

}  // namespace gradway
