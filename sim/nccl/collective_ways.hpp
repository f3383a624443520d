// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/hops.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/nccl/shared_path.hpp"
#include "sim/nccl/transport.hpp"

namespace gradway {

/// What ranks of an all-to-all send each other: all pairs of a node, or all others, as one flow.
struct PairFlow {
  SharedPath path;
  double share = 1;  ///< the flow moves so many times what a rank sends to one other
  int peers = 0;     ///< of a rank, that it sends to
  bool is_between_nodes = false;
  Seconds latency{};  ///< of the longest way
};

/// Where the collectives of some GPUs go: rings, trees and NVSwitches, laid over the links of the platform.
class CollectiveWays {
 public:
  /// @param routes must outlive this @throws ConfigError if two neighbours have no transport
  CollectiveWays(const Routes& routes, const NcclSettings& settings, GpuNumbers gpus);

  /// NVLinks from one GPU to another of a node: of the lesser bond where a relay stands between.
  int nvlinks(std::size_t from_gpu, std::size_t to_gpu) const;

  /// The orders in which the rings visit the GPUs, and their hops: one a NIC of a node; on a single node
  /// one, or those that its NVLinks make.
  const std::vector<GpuNumbers>& orders() const { return orders_; }
  const std::vector<Hops>& rings() const { return rings_; }

  /// The resources of each of the flows that share a collective: all its hops, one after the other.
  const std::vector<SharedPath>& paths(CollectiveKind kind, Algorithm algorithm) const;
  /// Each GPU to its NVSwitches and back. @pre they have some
  const SharedPath& nvswitches() const;
  /// Those of an all-to-all. Between nodes the bytes for a GPU go to the NICs beside it, PXN or not, in equal
  /// parts; a resource stands in a path as often as pairs use it, less what all uses have in common.
  /// @source NCCL 2.28.9, src/graph/search.cc (ncclTopoGetNetDev): the receiver's NIC
  const std::vector<PairFlow>& pairs() const;

 private:
  /// Two devices, each counted from the first device of its node.
  struct Ends {
    std::size_t from;
    std::size_t to;
    std::size_t rail;
    auto operator<=>(const Ends&) const = default;
  };
  /// A hop from one node to another.
  struct HopBetween {
    Hop hop;
    std::size_t from_node;
    std::size_t to_node;
  };

  std::optional<std::size_t> relay(std::size_t from_gpu, std::size_t to_gpu) const;
  Hop hop(std::size_t from_gpu, std::size_t to_gpu, std::size_t rail) const;
  Hop hop_between(std::size_t from_gpu, std::size_t to_gpu, std::size_t rail) const;
  Hop sought(std::size_t from_gpu, std::size_t to_gpu, std::size_t rail) const;
  std::vector<Hops> lay(const std::vector<std::vector<Edge>>& trees) const;
  std::vector<ResourceId> through_nvswitches() const;
  std::vector<SharedPath> through_reducing_switches(Algorithm algorithm) const;
  std::vector<SharedPath> lay_paths(Algorithm algorithm, bool closes) const;
  std::vector<std::size_t> nearest_rails(std::size_t gpu) const;

  const Routes& routes_;
  NcclSettings settings_;
  GpuNumbers gpus_;
  bool relays_ = false;  ///< NVLinks join some of the first node directly, and may lead through others
  std::vector<GpuNumbers> orders_;
  std::vector<Hops> rings_;
  mutable std::map<Ends, Hop> inside_;          ///< on the first node that had it
  mutable std::map<Ends, HopBetween> between_;  ///< on the first two nodes that had it
  /// Laid when the first collective takes them: each costs as much as all rings.
  mutable std::map<std::pair<Algorithm, bool>, std::vector<SharedPath>> paths_;
  mutable std::optional<SharedPath> nvswitches_;
  mutable std::vector<PairFlow> pairs_;  ///< laid when it is asked for
};

}  // namespace gradway
