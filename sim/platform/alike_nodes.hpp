// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Whether any node of a platform can stand for any other: all are alike, and hang alike on one switch that
/// joins them. What is found on some nodes then holds on as many others, taken in the order of their numbers.
class AlikeNodes {
 public:
  explicit AlikeNodes(const Platform& platform);

  bool hold() const { return holds_; }
  /// The node that a resource belongs to: one inside it, or of its links to the switch. @pre they hold
  std::size_t node_of(ResourceId id) const { return offset(id) / resources_around(id); }
  /// The same resource of another node. @pre they hold
  ResourceId on_node(ResourceId id, std::size_t node) const {
    return ResourceId{first_around(id) + node * resources_around(id) + offset(id) % resources_around(id)};
  }
  /// The resources of nodes, as other nodes have them. @pre they hold
  /// @param from, to numbers of nodes, rising, as many; all of the path are among `from`
  std::vector<ResourceId> moved(const std::vector<ResourceId>& path, const std::vector<std::uint32_t>& from,
                                const std::vector<std::uint32_t>& to) const;

 private:
  bool is_inside(ResourceId id) const { return id.index() < first_between_; }
  std::size_t first_around(ResourceId id) const { return is_inside(id) ? 0 : first_between_; }
  std::size_t resources_around(ResourceId id) const { return is_inside(id) ? inside_ : between_; }
  std::size_t offset(ResourceId id) const { return id.index() - first_around(id); }
  bool is_joined_alike(const Platform& platform) const;

  std::size_t inside_ = 0;   ///< resources of a node, which stand at the front
  std::size_t built_ = 0;    ///< resources of nodes and fabric
  std::size_t between_ = 0;  ///< resources a node that join it to the switch, behind those of all nodes
  std::size_t first_between_ = 0;
  bool holds_ = false;
};

}  // namespace gradway
