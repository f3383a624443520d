// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_settings.hpp"

namespace gradway {

/// What NCCL knows of a communicator when it prices its algorithms.
struct CommunicatorFacts {
  int ranks = 1;
  int nodes = 1;  ///< NCCL's: what NVSwitches join is one
  Transport transport =
      Transport::p2p;           ///< of the slowest hop inside a node; p2p if there is only one rank a node
  bool nvlink = false;          ///< every hop inside a node is NVLink
  int compute_capability = 80;  ///< of the oldest GPU
  bool amd_cpu = false;
  BytesPerSecond
      node_bandwidth{};            ///< of the slowest hop inside a node, per direction, NCCL's nominal figure
  BytesPerSecond net_bandwidth{};  ///< of all NICs of a node together, per direction; 0 on one node
  Seconds net_latency{};           ///< of a message, that the network adds to NCCL's own figures
  bool nvls = false;               ///< NVLink SHARP: NVSwitches reduce and multicast for all GPUs of a node
  /// The network's own tuner takes NVLSTree wherever it can: that of EFA does on more than two nodes, as its
  /// model gives NVLSTree the rate of a ring and the latency of a tree.
  /// @source github.com/aws/aws-ofi-nccl at 2daf7d30, src/tuner/nccl_ofi_model.cpp
  bool prefers_nvls_tree = false;
  bool nvswitch = false;              ///< joins all GPUs of a node
  bool collnet = false;               ///< the switches between nodes reduce for all of them
  int nics = 1;                       ///< of a node, that rings leave it by
  BytesPerSecond nvlink_bandwidth{};  ///< of a GPU into the NVSwitches, per direction, NCCL's nominal figure
};

/// Channels as NCCL's graph search finds them, after splitting and doubling.
struct Channels {
  int count = 1;
  BytesPerSecond each{};  ///< nominal rate of one
};

/// How one collective call will run, and NCCL's own estimate for it.
struct CollectivePlan {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 1;
  Seconds latency{};
  BytesPerSecond algorithm_bandwidth{};  ///< buffer bytes a second once the latency is paid

  Seconds estimate(Bytes size) const { return latency + size / algorithm_bandwidth; }
};

/// Bytes that each rank sends a byte of the buffer in a ring: 2(n-1)/n for all-reduce, (n-1)/n for all-gather
/// and reduce-scatter, 1 for broadcast and send/recv; in an all-to-all (n-1)/n. @source nccl-tests,
/// doc/PERFORMANCE.md
double bus_factor(CollectiveKind kind, int ranks);

/// @source NCCL 2.28.9, src/graph/search.cc: speeds tried from high to low until the channels fill the links,
/// fast
///         channels split in two, all doubled.
Channels search_channels(const CommunicatorFacts& communicator, const NcclSettings& settings,
                         Algorithm algorithm = Algorithm::ring);

/// What NCCL takes one NVLink for, a direction. @source NCCL 2.28.9, src/graph/topo.h
BytesPerSecond nccl_nvlink_rate(int compute_capability);

/// What a rank of an all-to-all sends at once, together to all ranks of its node, and to all of others.
struct PairRates {
  BytesPerSecond inside{};
  BytesPerSecond between{};  ///< its share of the NICs; 0 on one node
};
PairRates pair_rates(const CommunicatorFacts& communicator, const NcclSettings& settings, Protocol protocol);

/// Channels of sends and receives.
struct PairChannels {
  int all = 1;
  int a_peer = 1;
};
/// To a peer over NVLink two for each link of the way, over PCIe two, over the network one for each 14 GB/s
/// of the NICs; powers of two, not more than all.
/// @source NCCL 2.28.9, src/graph/paths.cc (ncclTopoComputeP2pChannels)
PairChannels pair_channels(const CommunicatorFacts& communicator, const NcclSettings& settings);

/// Every plan that NCCL would consider. An all-to-all is a send and a receive of each pair, grouped: there is
/// one plan, of LL if a peer gets at most 16 KiB a channel, and NCCL_ALGO and NCCL_PROTO change nothing.
/// @source NCCL 2.28.9, src/enqueue.cc (addP2pToPlan)
/// The others with NCCL's own estimate of latency and rate.
/// @source NCCL 2.28.9, src/graph/tuning.cc
std::vector<CollectivePlan> candidate_plans(CollectiveKind kind, Bytes size,
                                            const CommunicatorFacts& communicator,
                                            const NcclSettings& settings);

/// NVLink SHARP: NVSwitches reduce and multicast.
constexpr bool is_nvls(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
}

/// The switches between nodes reduce (SHARP), for GPUs in chains or with all others of their node.
constexpr bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
}

/// What NVLS reaches of NCCL's estimate for large buffers. The estimate for 8 H100 is 338 GB/s of the buffer;
/// they reach 275.
/// @source `nvls_source`: "on 8 GPUs, you should reach a peak busBw of ~480GB/s (algbw ~275GB/s)"
inline constexpr double nvls_reached = 0.81;
inline constexpr std::string_view nvls_source =
    "Sylvain Jeaugey of NVIDIA, github.com/NVIDIA/nccl-tests issue 212, 2024-05-06";

/// The same plan as NCCL makes it without NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS, which only scale its
/// estimate. @pre the plan is one of `candidate_plans` with these settings
CollectivePlan with_all_channels(const CollectivePlan& plan, CollectiveKind kind, Bytes size,
                                 const CommunicatorFacts& communicator, NcclSettings settings);

/// Buffer bytes a second that the NVSwitches of a node really pass in NVLS or NVLSTree.
BytesPerSecond nvls_reach(const CommunicatorFacts& communicator);

/// Ranks of the communicator on each of its nodes.
int ranks_a_node(const CommunicatorFacts& communicator);

/// The plan with the least estimate, as NCCL picks it (src/enqueue.cc); empty if NCCL_ALGO and NCCL_PROTO
/// leave none.
std::optional<CollectivePlan> choose_plan(CollectiveKind kind, Bytes size,
                                          const CommunicatorFacts& communicator,
                                          const NcclSettings& settings);

std::string_view name_of(Transport transport);
std::string_view name_of(Algorithm algorithm);
std::string_view name_of(Protocol protocol);

}  // namespace gradway
