// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Whether all nodes of a platform are interchangeable: they are identical and connected to one switch in the
/// same way. A result for some nodes then holds for as many others, taken in the order of their numbers.
class IdenticalNodes {
 public:
  explicit IdenticalNodes(const Platform& platform);

  /// Whether all nodes are interchangeable, which the other functions require.
  bool hold() const { return holds_; }
  /// The node that a resource belongs to. The links of a node to the switch count as its own.
  std::size_t node_of(ResourceId id) const { return offset(id) / resources_around(id); }
  /// The corresponding resource of another node.
  ResourceId on_node(ResourceId id, std::size_t node) const {
    return ResourceId{first_around(id) + node * resources_around(id) + offset(id) % resources_around(id)};
  }
  /// The corresponding path on other nodes.
  /// @param from nodes that the path uses, in ascending order
  /// @param to the node that replaces each of `from`, in ascending order
  std::vector<ResourceId> on_nodes(const std::vector<ResourceId>& path,
                                   const std::vector<std::uint32_t>& from,
                                   const std::vector<std::uint32_t>& to) const;

 private:
  bool is_inside(ResourceId id) const { return id.index() < first_between_; }
  std::size_t first_around(ResourceId id) const { return is_inside(id) ? 0 : first_between_; }
  std::size_t resources_around(ResourceId id) const { return is_inside(id) ? inside_ : between_; }
  std::size_t offset(ResourceId id) const { return id.index() - first_around(id); }
  bool have_identical_links(const Platform& platform) const;

  std::size_t inside_ = 0;   ///< number of resources within a node; those of all nodes come first
  std::size_t built_ = 0;    ///< number of resources of nodes and fabric
  std::size_t between_ = 0;  ///< number of resources that connect a node to the switch
  std::size_t first_between_ = 0;
  bool holds_ = false;
};

}  // namespace gradway
