// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/hops.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/nccl/shared_path.hpp"
#include "sim/nccl/transport.hpp"

namespace gradway {

/// Traffic of an all-to-all as one flow: of all pairs inside nodes, or of all other pairs.
struct PairFlow {
  SharedPath path;
  double share = 1;  ///< bytes of the flow over those that a rank sends to one other
  int peers = 0;     ///< number of ranks that a rank sends to
  bool is_between_nodes = false;
  Seconds latency{};  ///< of the longest path
};

/// Paths of the collectives of some GPUs over the links of the platform: rings, trees and NVSwitches. Where
/// they are the same GPUs of many interchangeable domains, the hops between a few of the domains are sought
/// and stand for those between all: a ring enters and leaves each domain alike, and a tree uses the network
/// of a domain once for each of its edges there.
class CollectiveWays {
 public:
  /// @param routes must outlive this @throws ConfigError if two neighbours have no transport
  CollectiveWays(const Routes& routes, const NcclSettings& settings, GpuNumbers gpus);

  /// NVLinks from one GPU to another of a node; with a relay between them, those of the smaller bond.
  int nvlinks(std::size_t from_gpu, std::size_t to_gpu) const;

  /// The GPUs whose hops stand for those of all: these are all, or the GPUs of the first domains.
  const GpuNumbers& gpus() const { return gpus_; }
  /// Number of the domains of all GPUs.
  std::size_t domain_count() const { return domain_count_; }
  /// The domains of all GPUs in the order of the ranks; null if the platform's are not interchangeable.
  const SharedPath::Numbers& domains() const { return domains_; }

  /// The orders in which the rings visit `gpus`, and their hops: a ring for each NIC of a node; on a single
  /// node one ring, or those of its NVLinks.
  const std::vector<GpuNumbers>& orders() const { return orders_; }
  const std::vector<Hops>& rings() const { return rings_; }

  /// The resources of each flow of a collective: those of all its hops, in order.
  const std::vector<SharedPath>& paths(CollectiveKind kind, Algorithm algorithm) const;
  /// From each GPU to its NVSwitches and back. @pre there are NVSwitches
  const SharedPath& nvswitches() const;
  /// Flows of an all-to-all. Between nodes the bytes for a GPU go to the NICs near it in equal parts, with or
  /// without PXN. A path has a resource as often as pairs use it, divided by the common divisor of all uses.
  /// @source NCCL 2.28.9, src/graph/search.cc (ncclTopoGetNetDev): the receiver's NIC
  const std::vector<PairFlow>& pairs() const;

 private:
  /// Two devices, each counted from the first device of its node.
  struct Ends {
    std::size_t from;
    std::size_t to;
    std::size_t rail;
    bool leaves_by_own_nic;
    auto operator<=>(const Ends&) const = default;
  };
  using Resources = SharedPath::Resources;

  void keep_few_domains();
  bool keeps_few() const { return kept_domains_ < domain_count_; }
  GpuNumbers gpus_of_first_two() const;
  std::size_t standing_for(std::size_t domain) const;
  std::vector<Resources> by_domain(const Resources& path) const;
  SharedPath over_domains(Resources path) const;
  SharedPath on_each_domain(const Resources& path) const;
  std::optional<std::size_t> relay(std::size_t from_gpu, std::size_t to_gpu) const;
  /// What is asked about a hop between two GPUs, by number on the platform.
  struct HopBetweenGpus {
    std::size_t from;
    std::size_t to;
    std::size_t rail;
    bool leaves_by_own_nic = false;
  };
  Hop hop(const HopBetweenGpus& asked) const;
  Hop find_hop(const HopBetweenGpus& asked) const;
  bool takes_same_gpus_of_nodes() const;
  bool alternates() const;
  void add_rings();
  Resources hops_of(std::span<const Edge> edges, std::size_t tree) const;
  std::vector<SharedPath> tree_paths(Algorithm algorithm) const;
  Resources through_nvswitches() const;
  std::vector<SharedPath> through_reducing_switches(Algorithm algorithm) const;
  std::vector<SharedPath> find_paths(Algorithm algorithm, bool closes) const;
  std::vector<std::size_t> nearest_rails(std::size_t gpu) const;

  const Routes& routes_;
  NcclSettings settings_;
  GpuNumbers gpus_;
  std::size_t domain_count_ = 1;
  std::size_t kept_domains_ = 1;  ///< of `gpus_`
  SharedPath::Numbers domains_;
  GpuNumbers members_;           ///< `gpus_` in ascending order
  bool has_alike_nodes_ = true;  ///< whether it has the same GPUs of each node
  bool relays_ = false;          ///< NVLinks join GPUs of the first node directly, and others may relay
  std::vector<GpuNumbers> orders_;
  std::vector<std::size_t> rails_;  ///< the NIC of each ring; several nodes
  std::vector<Hops> rings_;
  mutable std::map<Ends, Hop> inside_;  ///< on the first node with such a hop
  /// `SharedPath::OverDomains::use_of_domain` by the uses of the kept domains.
  mutable std::map<std::vector<std::uint32_t>, SharedPath::Numbers> patterns_;
  /// Found for the first collective that needs them: each takes as long as all rings.
  mutable std::map<std::pair<Algorithm, bool>, std::vector<SharedPath>> paths_;
  mutable std::optional<SharedPath> nvswitches_;
  mutable std::vector<PairFlow> pairs_;  ///< found when needed
};

}  // namespace gradway
