// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/rank_order.hpp"

#include <algorithm>
#include <optional>

#include "sim/lower/nvlink_rings.hpp"

namespace gradway {
namespace {

using Nodes = std::vector<std::vector<std::size_t>>;

/// The GPUs beside a NIC, counted within a node: where a ring enters and leaves the node.
struct Door {
  std::size_t entry = 0;
  std::optional<std::size_t> exit;  ///< empty if no other GPU is as near
};

/// NICs of the first of NCCL's nodes, in order. All nodes are alike.
std::vector<DeviceId> first_nics(const Platform& platform) {
  std::vector<DeviceId> nics;
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    const DeviceId id{i};
    if (platform.device(id).kind == DeviceKind::nic && platform.nvlink_domain(id) == 0) nics.push_back(id);
  }
  return nics;
}

/// The ways out of a node, one a NIC. Several NICs that are as near to several GPUs take turns.
std::vector<Door> doors(const Routes& routes, const std::vector<std::size_t>& first_node) {
  const auto& platform = routes.platform();
  std::vector<Door> found;
  std::vector<std::size_t> uses(first_node.size(), 0);
  for (const auto nic : first_nics(platform)) {
    std::vector<PathType> distance;
    for (const auto rank : first_node) distance.push_back(routes.path_type(platform.gpus[rank], nic));
    const auto nearest = *std::ranges::min_element(distance);
    Door door;
    auto least = static_cast<std::size_t>(-1);
    for (std::size_t i = 0; i < distance.size(); ++i) {
      if (distance[i] != nearest || uses[i] >= least) continue;
      least = uses[i];
      door.entry = i;
    }
    ++uses[door.entry];
    for (std::size_t i = 0; i < distance.size() && nearest <= PathType::pxb; ++i) {
      if (distance[i] == nearest && i != door.entry) door.exit = i;
    }
    found.push_back(door);
  }
  return found;
}

/// The order of a node's ranks for a ring that comes in by a door.
std::vector<std::size_t> through(std::vector<std::size_t> ring, const Door& door, bool any_order) {
  if (door.entry >= ring.size()) return ring;
  const auto entry = std::ranges::find(ring, std::ranges::min(ring) + door.entry);
  std::ranges::rotate(ring, entry);
  if (any_order && door.exit && *door.exit < ring.size()) {
    const auto exit = std::ranges::find(ring, std::ranges::min(ring) + *door.exit);
    std::rotate(exit, exit + 1, ring.end());
  }
  return ring;
}

/// A ring of each node; nodes with as many ranks as the first one have its order.
Nodes node_rings(const Routes& routes, const Nodes& nodes) {
  Nodes rings;
  for (const auto& node : nodes) {
    if (rings.empty() || node.size() != nodes.front().size()) {
      rings.push_back(nvlink_rings(routes, node).front());
      continue;
    }
    auto& ring = rings.emplace_back(rings.front());
    for (auto& rank : ring) rank += node.front() - nodes.front().front();
  }
  return rings;
}

/// The parent of a node in the tree of `count`; the root has none. Parents have a lower last bit.
std::optional<std::size_t> parent_by_bits(std::size_t node, std::size_t count) {
  if (node == 0) return std::nullopt;
  const auto bit = node & (~node + 1);
  const auto up = (node ^ bit) | (bit << 1);
  return up >= count ? node ^ bit : up;
}

/// The same in the second tree of a pair.
std::optional<std::size_t> parent_in_second(std::size_t node, std::size_t count) {
  const bool mirrors = count % 2 == 0;
  const auto parent = parent_by_bits(mirrors ? count - 1 - node : (node + count - 1) % count, count);
  if (!parent) return std::nullopt;
  return mirrors ? count - 1 - *parent : (*parent + 1) % count;
}

/// Calls `add(tree, child, parent)` with the numbers of nodes.
template <class Add>
void for_each_edge(std::size_t nodes, std::size_t rails, const Add& add) {
  for (std::size_t tree = 0; tree < 2 * rails; ++tree) {
    for (std::size_t node = 0; node < nodes; ++node) {
      const auto parent = tree % 2 == 0 ? parent_by_bits(node, nodes) : parent_in_second(node, nodes);
      if (parent) add(tree, node, *parent);
    }
  }
}

/// The rank beside the door of a tree's NIC.
std::size_t head(const std::vector<std::size_t>& ring, const std::vector<Door>& ways, std::size_t tree) {
  if (ways.empty()) return ring.front();
  return through(ring, ways[tree / 2], false).front();
}

}  // namespace

Nodes ranks_by_domain(const Platform& platform, int ranks) {
  Nodes nodes;
  int last = -1;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    const auto node = platform.nvlink_domain(platform.gpus[rank]);
    if (nodes.empty() || node != last) nodes.emplace_back();
    nodes.back().push_back(rank);
    last = node;
  }
  return nodes;
}

int node_count(const Platform& platform, int ranks) {
  const auto last = static_cast<std::size_t>(ranks) - 1;
  return platform.device(platform.gpus[last]).node + 1;
}

Nodes ring_orders(const Routes& routes, int ranks) {
  const auto nodes = ranks_by_domain(routes.platform(), ranks);
  if (nodes.size() == 1) return nvlink_rings(routes, nodes.front());
  const auto rings = node_rings(routes, nodes);
  const bool any_order = !has_direct_nvlinks(routes, nodes.front());
  auto ways = doors(routes, nodes.front());
  if (ways.empty()) ways.emplace_back();
  Nodes orders;
  for (const auto& door : ways) {
    auto& order = orders.emplace_back();
    for (const auto& ring : rings)
      std::ranges::copy(through(ring, door, any_order), std::back_inserter(order));
  }
  return orders;
}

std::vector<std::vector<Edge>> tree_edges_between_nodes(const Routes& routes, int ranks) {
  const auto nodes = ranks_by_domain(routes.platform(), ranks);
  if (nodes.size() == 1) return {};
  const auto rings = node_rings(routes, nodes);
  const auto ways = doors(routes, nodes.front());
  const auto rails = std::max<std::size_t>(1, ways.size());
  std::vector<std::vector<Edge>> trees(2 * rails);
  for_each_edge(nodes.size(), rails, [&](std::size_t tree, std::size_t child, std::size_t parent) {
    trees[tree].push_back({head(rings[child], ways, tree), head(rings[parent], ways, tree)});
  });
  return trees;
}

std::vector<std::vector<Edge>> tree_edges(const Routes& routes, int ranks) {
  const auto nodes = ranks_by_domain(routes.platform(), ranks);
  auto trees = tree_edges_between_nodes(routes, ranks);
  if (trees.empty()) trees.emplace_back();
  const auto rings = node_rings(routes, nodes);
  const auto ways = nodes.size() == 1 ? std::vector<Door>{} : doors(routes, nodes.front());
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    for (const auto& ring : rings) {
      const auto chain = ways.empty() ? ring : through(ring, ways[tree / 2], false);
      for (std::size_t i = 1; i < chain.size(); ++i) trees[tree].push_back({chain[i], chain[i - 1]});
    }
  }
  return trees;
}

}  // namespace gradway
