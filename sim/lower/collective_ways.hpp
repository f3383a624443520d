// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/lower/rank_order.hpp"
#include "sim/lower/transport.hpp"

namespace gradway {

/// Where the collectives of some ranks go: rings, trees and NVSwitches, laid over the links of the platform.
class CollectiveWays {
 public:
  using Hops = std::vector<Hop>;

  /// The first two must outlive this. @throws ConfigError if two neighbours have no transport
  CollectiveWays(const Routes& routes, const NcclSettings& settings, int ranks);

  /// One a NIC of a node; on a single node one, or those that its NVLinks make.
  const std::vector<Hops>& rings() const { return rings_; }

  /// The resources of each of the flows that share a collective: all its hops, one after the other.
  std::vector<std::vector<ResourceId>> paths(CollectiveKind kind, Algorithm algorithm) const;

 private:
  Hop hop(std::size_t from_rank, std::size_t to_rank, std::size_t rail) const;
  std::vector<Hops> lay(const std::vector<std::vector<Edge>>& trees) const;
  const std::vector<Hops>& trees() const;
  std::vector<ResourceId> through_nvswitches() const;

  const Routes& routes_;
  const NcclSettings& settings_;
  int ranks_;
  std::vector<Hops> rings_;
  /// Laid when the first collective takes a tree, since few do and it costs as much as all rings. Empty until
  /// then.
  mutable std::vector<Hops> trees_;
};

}  // namespace gradway
