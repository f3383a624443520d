// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/rank_order.hpp"

#include <algorithm>

namespace gradway {
namespace {

/// Ranks by node, in order.
std::vector<std::vector<std::size_t>> ranks_by_node(const Platform& platform, int ranks) {
  std::vector<std::vector<std::size_t>> nodes;
  int last = -1;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    const auto node = platform.device(platform.gpus[rank]).node;
    if (nodes.empty() || node != last) nodes.emplace_back();
    nodes.back().push_back(rank);
    last = node;
  }
  return nodes;
}

std::size_t nics_a_node(const Platform& platform) {
  return static_cast<std::size_t>(std::ranges::count_if(platform.devices, [](const Device& device) {
    return device.kind == DeviceKind::nic && device.node == 0;
  }));
}

/// Ways out of a node that are used side by side: its NICs; one way if there is only one node.
std::size_t rails_of(const Platform& platform, std::size_t nodes) {
  return nodes == 1 ? 1 : std::max<std::size_t>(1, nics_a_node(platform));
}

}  // namespace

int node_count(const Platform& platform, int ranks) {
  return static_cast<int>(ranks_by_node(platform, ranks).size());
}

std::vector<std::vector<std::size_t>> ring_orders(const Platform& platform, int ranks) {
  const auto nodes = ranks_by_node(platform, ranks);
  const auto rings = rails_of(platform, nodes.size());
  std::vector<std::vector<std::size_t>> orders;
  for (std::size_t ring = 0; ring < rings; ++ring) {
    auto& order = orders.emplace_back();
    for (const auto& node : nodes) {
      const auto exit = ring * node.size() / rings;
      for (std::size_t i = 1; i <= node.size(); ++i) {
        order.push_back(node[nodes.size() == 1 ? i - 1 : (exit + i) % node.size()]);
      }
    }
  }
  return orders;
}

std::vector<std::vector<std::pair<std::size_t, std::size_t>>> tree_edges(const Platform& platform,
                                                                         int ranks) {
  auto nodes = ranks_by_node(platform, ranks);
  const auto rails = rails_of(platform, nodes.size());
  const std::size_t pair = nodes.size() == 1 ? 1 : 2;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> trees;
  for (std::size_t tree = 0; tree < pair * rails; ++tree) {
    auto& edges = trees.emplace_back();
    const auto head = [&](const std::vector<std::size_t>& node) { return tree / pair * node.size() / rails; };
    for (const auto& node : nodes) {
      for (std::size_t i = 1; i < node.size(); ++i) {
        edges.emplace_back(node[(head(node) + i) % node.size()], node[(head(node) + i - 1) % node.size()]);
      }
    }
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      edges.emplace_back(nodes[i][head(nodes[i])], nodes[(i - 1) / 2][head(nodes[(i - 1) / 2])]);
    }
    std::ranges::reverse(nodes);
  }
  return trees;
}

}  // namespace gradway
