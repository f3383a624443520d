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
  std::int32_t first_block = Blocks::none;  ///< none for the root group
  std::int32_t last_block = Blocks::none;
  std::vector<Unit::Gradient> gradients;  ///< in the order in which they become ready
  double elements = 0;
  /// Size with the padding of each rank's shard: the first dimension of a parameter is cut into one piece of
  /// equal length per rank, however few rows it has. @source
  /// torch/distributed/fsdp/_fully_shard/_fsdp_param.py, PyTorch 2.11
  double padded = 0;
  Bytes frozen{};          ///< parameters that are not trained, padded likewise
  int frozen_tensors = 0;  ///< gathered but not reduced
  double in_fp8 = 0;       ///< elements of weights that torchao can gather in fp8

  /// Whether the group has no parameters, so that no hooks are called for it.
  bool is_empty() const { return gradients.empty() && frozen_tensors == 0; }
  int tensors() const { return static_cast<int>(gradients.size()); }
  int gathered_tensors() const { return tensors() + frozen_tensors; }
};

/// Bytes per element of a format, or `otherwise` if none is given.
inline double bytes_or(const std::optional<Number>& number, double otherwise) {
  return number ? bytes_of(*number) : otherwise;
}

/// The groups of a model: blocks in the order of the forward pass, `wrap` to a group. Layers outside of
/// blocks form the root group, which comes last.
class WrappedModel {
 public:
  /// @param over number of ranks that share each group
  /// @param divides_experts whether experts that are fewer than these ranks are cut by their rows, as
  /// torchtitan
  ///        does with expert parallelism; else their number is padded like the rows of other parameters
  WrappedModel(const Model& model, const Wrap& wrap, int over, bool divides_experts = false);

  /// Groups that are one flat tensor each, frozen parameters included; only the flat tensor is padded.
  /// @param width bytes per element
  static WrappedModel flat(const Model& model, const Wrap& wrap, int over, double width);

  const Blocks& blocks() const { return blocks_; }
  std::size_t size() const { return groups_.size(); }
  std::size_t root() const { return groups_.size() - 1; }
  const ShardedGroup& operator[](std::size_t group) const { return groups_[group]; }
  /// @return the group that begins (ends) with a module; empty if the module is inside a group or has no
  /// parameters
  std::optional<std::size_t> begins_with(Module module) const;
  std::optional<std::size_t> ends_with(Module module) const;
  /// By group: its gradient elements that are ready when this share of the whole model's are.
  std::vector<double> made(double share) const;
  /// The largest group except the root.
  double largest_padded() const { return largest_padded_; }
  double all_padded() const { return all_padded_; }
  /// Over all groups.
  Bytes frozen() const;
  /// The largest parameter of the model. @param width bytes per trained element
  Bytes largest_tensor(double width) const;
  /// For reports. @param width bytes per communicated element
  std::vector<Unit> units(double width) const;

 private:
  std::optional<std::size_t> group_of(Module module) const;
  void add_up_padded();
  std::vector<std::pair<double, std::size_t>>
      in_order_;  ///< gradients in the order in which they become ready: elements, group

  Bytes largest_frozen_{};
  Blocks blocks_;
  int together_;
  std::vector<ShardedGroup> groups_;
  double largest_padded_ = 0;
  double all_padded_ = 0;
};

}  // namespace gradway
