// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_settings.hpp"

namespace gradway {

/// The properties of a communicator by which NCCL estimates its algorithms.
struct CommunicatorFacts {
  int ranks = 1;
  int nodes = 1;  ///< as NCCL counts them: an NVLink domain is one node
  /// Transport of the slowest hop within a node; p2p with a single rank per node.
  Transport transport = Transport::p2p;
  bool nvlink = false;            ///< every hop within a node is NVLink
  bool only_host_memory = false;  ///< every hop within a node goes through host memory
  int compute_capability = 80;    ///< of the oldest GPU
  bool amd_cpu = false;
  BytesPerSecond node_bandwidth{};  ///< NCCL's nominal rate of the slowest hop within a node, per direction
  BytesPerSecond net_bandwidth{};   ///< of all NICs of a node together, per direction; 0 on one node
  Seconds net_latency{};            ///< latency of a message in addition to NCCL's own figures
  bool nvls = false;                ///< NVLink SHARP: NVSwitches reduce and multicast for all GPUs of a node
  /// The tuner of the network prefers NVLSTree to all other algorithms. That of EFA does on more than two
  /// nodes, since its model assumes the rate of a ring and the latency of a tree for NVLSTree.
  /// @source github.com/aws/aws-ofi-nccl at 2daf7d30, src/tuner/nccl_ofi_model.cpp
  bool prefers_nvls_tree = false;
  bool multi_node_nvlink = false;  ///< NVLink domains of several hosts (racks), and more than one of them
  bool nvswitch = false;           ///< NVSwitches connect all GPUs of a node
  bool collnet = false;            ///< network switches reduce (SHARP)
  /// The network does not keep the order of 128 bytes, which LL and LL128 need.
  bool unordered_network = false;
  int nics = 1;                       ///< NICs of a node that rings use
  BytesPerSecond nvlink_bandwidth{};  ///< NCCL's nominal rate from a GPU to the NVSwitches, per direction
  bool rccl = false;                  ///< GPUs of AMD: RCCL's rules (rccl_model.hpp)
  int mesh_links = 0;                 ///< XGMI links of a GPU of a full mesh to the others; 0: no mesh
};

/// The channels of NCCL's graph search, after splitting and doubling.
struct Channels {
  int count = 1;
  BytesPerSecond each{};  ///< nominal rate of a channel
};

/// How a collective runs, and NCCL's own estimate for it.
struct CollectivePlan {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 1;
  Seconds latency{};
  BytesPerSecond algorithm_bandwidth{};  ///< buffer bytes per second, after the latency

  Seconds estimate(Bytes size) const { return latency + size / algorithm_bandwidth; }
};

/// Bytes that each rank sends per byte of the buffer: 2(n-1)/n for all-reduce, (n-1)/n for all-gather,
/// reduce-scatter and all-to-all, 1 for broadcast and send/recv. @source nccl-tests, doc/PERFORMANCE.md
double bus_factor(CollectiveKind kind, int ranks);

/// @source NCCL 2.28.9, src/graph/search.cc: speeds are tried from high to low until the channels fill the
///         links; fast channels are split in two; all are doubled
Channels search_channels(const CommunicatorFacts& communicator, const NcclSettings& settings,
                         Algorithm algorithm = Algorithm::ring);

/// NCCL's nominal rate of one NVLink, per direction. @source NCCL 2.28.9, src/graph/topo.h
BytesPerSecond nccl_nvlink_rate(int compute_capability);

/// Rates at which a rank of an all-to-all sends to all ranks of its node, and to all ranks of other nodes.
struct PairRates {
  BytesPerSecond inside{};
  BytesPerSecond between{};  ///< its share of the NICs; 0 on one node
};
PairRates pair_rates(const CommunicatorFacts& communicator, const NcclSettings& settings, Protocol protocol);

/// Numbers of channels of sends and receives.
struct PairChannels {
  int all = 1;
  int per_peer = 1;
};
/// To a peer over NVLink two per link, over PCIe two, over the network one per 14 GB/s of the NICs; a power
/// of two, at most `all`.
/// @source NCCL 2.28.9, src/graph/paths.cc (ncclTopoComputeP2pChannels)
PairChannels pair_channels(const CommunicatorFacts& communicator, const NcclSettings& settings);

/// All plans that NCCL considers, with its own estimate of latency and rate. An all-to-all consists of
/// grouped sends and receives and has a single plan, which uses LL if a peer gets at most 16 KiB per channel;
/// NCCL_ALGO and NCCL_PROTO have no effect on it.
/// @source NCCL 2.28.9, src/graph/tuning.cc; all-to-all: src/enqueue.cc (addP2pToPlan)
std::vector<CollectivePlan> candidate_plans(CollectiveKind kind, Bytes size,
                                            const CommunicatorFacts& communicator,
                                            const NcclSettings& settings);

/// Whether NVSwitches reduce and multicast (NVLink SHARP).
constexpr bool is_nvls(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
}

/// Whether network switches reduce (SHARP), for chains of GPUs or for all GPUs of a node directly.
constexpr bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
}

/// Real rate of NVLS over NCCL's estimate for large buffers. On 8 H100 the estimate is 338 GB/s of the
/// buffer, and 275 GB/s are reached.
/// @source `nvls_source`: "on 8 GPUs, you should reach a peak busBw of ~480GB/s (algbw ~275GB/s)"
inline constexpr double nvls_reached = 0.81;
inline constexpr std::string_view nvls_source =
    "Sylvain Jeaugey of NVIDIA, github.com/NVIDIA/nccl-tests issue 212, 2024-05-06";

/// The same plan without NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS, which only scale NCCL's estimate.
/// @pre the plan is one of `candidate_plans` with these settings
CollectivePlan with_all_channels(const CollectivePlan& plan, CollectiveKind kind, Bytes size,
                                 const CommunicatorFacts& communicator, NcclSettings settings);

/// Real rate of the NVSwitches of a node in NVLS or NVLSTree, in buffer bytes per second.
BytesPerSecond nvls_reach(const CommunicatorFacts& communicator);

/// Number of ranks on each node of the communicator.
int ranks_per_node(const CommunicatorFacts& communicator);

/// The plan of the smallest estimate, which NCCL chooses (src/enqueue.cc). Empty if NCCL_ALGO and NCCL_PROTO
/// exclude all plans.
std::optional<CollectivePlan> choose_plan(CollectiveKind kind, Bytes size,
                                          const CommunicatorFacts& communicator,
                                          const NcclSettings& settings);

std::string_view name_of(Transport transport);
std::string_view name_of(Algorithm algorithm);
std::string_view name_of(Protocol protocol);

}  // namespace gradway
