// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <utility>
#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/hops.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/nccl/shared_path.hpp"
#include "sim/nccl/transport.hpp"

namespace gradway {

/// Where the collectives of some GPUs go: rings, trees and NVSwitches, laid over the links of the platform.
class CollectiveWays {
 public:
  /// @param routes must outlive this @throws ConfigError if two neighbours have no transport
  CollectiveWays(const Routes& routes, const NcclSettings& settings, GpuNumbers gpus);

  /// The orders in which the rings visit the GPUs, and their hops: one a NIC of a node; on a single node
  /// one, or those that its NVLinks make.
  const std::vector<GpuNumbers>& orders() const { return orders_; }
  const std::vector<Hops>& rings() const { return rings_; }

  /// The resources of each of the flows that share a collective: all its hops, one after the other.
  const std::vector<SharedPath>& paths(CollectiveKind kind, Algorithm algorithm) const;

 private:
  /// A hop between two devices of one node, counted from its first.
  struct Inside {
    std::size_t from;
    std::size_t to;
    std::size_t rail;
    auto operator<=>(const Inside&) const = default;
  };

  Hop hop(std::size_t from_gpu, std::size_t to_gpu, std::size_t rail) const;
  Hop sought(std::size_t from_gpu, std::size_t to_gpu, std::size_t rail) const;
  std::vector<Hops> lay(const std::vector<std::vector<Edge>>& trees) const;
  std::vector<ResourceId> through_nvswitches() const;
  std::vector<SharedPath> lay_paths(Algorithm algorithm, bool closes) const;

  const Routes& routes_;
  NcclSettings settings_;
  GpuNumbers gpus_;
  std::vector<GpuNumbers> orders_;
  std::vector<Hops> rings_;
  mutable std::map<Inside, Hop> inside_;  ///< on the first node that had it
  /// Laid when the first collective takes them: each costs as much as all rings.
  mutable std::map<std::pair<Algorithm, bool>, std::vector<SharedPath>> paths_;
};

}  // namespace gradway
