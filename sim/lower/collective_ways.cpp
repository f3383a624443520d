// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/collective_ways.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sim/base/problem.hpp"

namespace gradway {
namespace {

std::vector<ResourceId> all_hops(const CollectiveWays::Hops& hops, std::size_t count) {
  std::vector<ResourceId> path;
  for (std::size_t i = 0; i < count; ++i) path.insert(path.end(), hops[i].path.begin(), hops[i].path.end());
  return path;
}

/// A broadcast goes once along the ring and does not close it.
std::size_t hops_used(CollectiveKind kind, const CollectiveWays::Hops& ring) {
  return kind == CollectiveKind::broadcast ? ring.size() - 1 : ring.size();
}

}  // namespace

CollectiveWays::CollectiveWays(const Routes& routes, const NcclSettings& settings, int ranks)
    : routes_{routes}, settings_{settings}, ranks_{ranks} {
  if (ranks == 1) return;
  for (const auto& order : ring_orders(routes, ranks)) {
    auto& ring = rings_.emplace_back();
    for (std::size_t i = 0; i < order.size(); ++i) {
      ring.push_back(hop(order[i], order[(i + 1) % order.size()], rings_.size() - 1));
    }
  }
}

Hop CollectiveWays::hop(std::size_t from_rank, std::size_t to_rank, std::size_t rail) const {
  const auto& platform = routes_.platform();
  const auto from = platform.gpus[from_rank];
  const auto to = platform.gpus[to_rank];
  if (auto hop = make_hop(routes_, platform, settings_, from, to, rail)) return *std::move(hop);
  throw ConfigError{
      {{},
       fmt::format("no transport from {} to {} on platform '{}'", platform.device(from).name,
                   platform.device(to).name, platform.name),
       {},
       "NCCL_P2P_DISABLE, NCCL_SHM_DISABLE or NCCL_P2P_LEVEL leave only NET, and the node has no NIC"}};
}

/// Both directions of each edge.
std::vector<CollectiveWays::Hops> CollectiveWays::lay(const std::vector<std::vector<Edge>>& trees) const {
  std::vector<Hops> laid;
  for (const auto& edges : trees) {
    const auto rail = laid.size() / 2;  // trees come in pairs, one a NIC
    auto& tree = laid.emplace_back();
    for (const auto& [child, parent] : edges) {
      tree.push_back(hop(child, parent, rail));
      tree.push_back(hop(parent, child, rail));
    }
  }
  return laid;
}

const std::vector<CollectiveWays::Hops>& CollectiveWays::trees() const {
  if (trees_.empty()) trees_ = lay(tree_edges(routes_, ranks_));
  return trees_;
}

/// The bytes that NVSwitches reduce and multicast: each GPU sends them to its switch and gets them back.
std::vector<ResourceId> CollectiveWays::through_nvswitches() const {
  std::vector<ResourceId> path;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks_); ++rank) {
    const auto links = routes_.links_to_nvswitch(routes_.platform().gpus[rank]);
    path.push_back(links->up->resource);
    path.push_back(links->down->resource);
  }
  return path;
}

std::vector<std::vector<ResourceId>> CollectiveWays::paths(CollectiveKind kind, Algorithm algorithm) const {
  std::vector<std::vector<ResourceId>> paths;
  switch (algorithm) {
    case Algorithm::ring:
      for (const auto& ring : rings_) paths.push_back(all_hops(ring, hops_used(kind, ring)));
      break;
    case Algorithm::tree:
      for (const auto& tree : trees()) paths.push_back(all_hops(tree, tree.size()));
      break;
    case Algorithm::nvls:
      paths.push_back(through_nvswitches());
      break;
    case Algorithm::nvls_tree:
      for (const auto& tree : lay(tree_edges_between_nodes(routes_, ranks_))) {
        auto& path = paths.emplace_back(through_nvswitches());
        std::ranges::copy(all_hops(tree, tree.size()), std::back_inserter(path));
      }
      break;
  }
  return paths;
}

}  // namespace gradway
