// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// The paths of a graph as the engines use them. Each path lists its resources of finite capacity once, with
/// their multiplicities. Only resources that some path uses are numbered, in order of id: with folding, a
/// platform has many more.
class PathTable {
 public:
  struct Use {
    std::uint32_t resource;  ///< number of the resource
    std::uint32_t times;     ///< multiplicity
  };

  /// @pre every path names resources of the platform, and no capacity is negative
  PathTable(const Platform& platform, const OpGraph& graph);

  /// The resources of a path in order of number.
  std::span<const Use> uses(std::uint32_t path) const {
    return std::span{uses_}.subspan(first_[path], first_[path + 1] - first_[path]);
  }
  /// Whether a resource of the path has capacity zero.
  bool blocked(std::uint32_t path) const { return blocked_[path]; }
  /// By number, in the unit of the resource.
  const std::vector<double>& capacities() const { return capacities_; }
  ResourceId resource(std::uint32_t number) const { return resources_[number]; }
  /// Empty if no path uses the resource.
  std::optional<std::uint32_t> number(ResourceId resource) const;
  /// Number of resources of the longest path.
  std::size_t longest() const { return longest_; }

 private:
  void add(std::vector<std::uint32_t>& resources);

  std::vector<double> capacities_;
  std::vector<ResourceId> resources_;  ///< by number
  std::vector<std::size_t> first_{0};
  std::vector<Use> uses_;
  std::vector<bool> blocked_;
  std::size_t longest_ = 0;
};

}  // namespace gradway
