// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// The paths of a graph as the engines use them: each resource once, with how often the path names it, and
/// only resources that can limit a flow (one of infinite capacity cannot). Resources are numbered among those
/// that some path uses, in their order: a platform has many more where one rank stands for others.
class PathTable {
 public:
  struct Use {
    std::uint32_t resource;  ///< its number
    std::uint32_t times;
  };

  /// @pre every path names resources of the platform, and no capacity is negative
  PathTable(const Platform& platform, const OpGraph& graph);

  /// In order of number.
  std::span<const Use> uses(std::uint32_t path) const {
    return std::span{uses_}.subspan(first_[path], first_[path + 1] - first_[path]);
  }
  /// Nothing can pass, because a resource has no capacity at all.
  bool blocked(std::uint32_t path) const { return blocked_[path]; }
  /// By number; in the unit of the resource.
  const std::vector<double>& capacities() const { return capacities_; }
  ResourceId resource(std::uint32_t number) const { return resources_[number]; }
  /// Nothing if no path uses it.
  std::optional<std::uint32_t> number(ResourceId resource) const;
  /// Of the path with the most resources.
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
