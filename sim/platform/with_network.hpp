// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/description.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// The platform under other conditions of the network between its nodes. Links of the network carry what
/// arrives of what is sent (`Resource::share`): less where packets are repeated, and between switches that
/// hash flows to uplinks. NCCL, which does not know of it, chooses as before.
/// @param queue_pairs of each connection of NCCL (NCCL_IB_QPS_PER_CONNECTION)
/// @pre the platform has a network; whether it spreads flows over uplinks at all does not change
Platform with_network(Platform platform, const NetworkConditions& conditions, int queue_pairs);

/// Share of the rate of network links that arrives for the first time.
double arriving_share(const Network& network);

/// What RDMA senders repeat. With spraying the receiver takes packets in any order, so that the lost ones
/// alone are missing.
Retransmission retransmission_of(const Network& network);

/// The flows that a leaf hashes to its uplinks. NCCL connects each NIC at least twice, since it doubles the
/// channels that it finds.
/// Sprayed connections count as often as they have paths.
/// @source NCCL 2.28.9, src/graph/connect.cc
/// @pre `network.uplinks`
HashedFlows hashed_flows(const Network& network, int queue_pairs);

/// The platform with NCCL's sockets between its nodes, over the same NICs. @pre the platform has a network
Platform with_sockets(Platform platform);

/// Changes conditions of the network of a platform that is yet to be built. No effect without a fabric.
void set_conditions(PlatformDescription& platform, const NetworkConditions& changes);

}  // namespace gradway
