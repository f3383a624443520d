// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cost/nccl_model.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Number of places between which messages take the network's round trip: nodes, or leaves of a fabric that
/// has some.
int far_places(const Platform& platform, const std::vector<std::size_t>& gpus, int nodes);

/// Number of messages between places that follow each other: 2(n-1) of a ring's all-reduce, n-1 of its
/// all-gather, reduce-scatter and broadcast, 2 log2 n of a tree, 1 of a send, 2 up to a switch that reduces
/// and down.
double messages_in_a_row(CollectiveKind kind, Algorithm algorithm, int places);

/// What a message takes beyond `Network::message_latency`: at least half a round trip in all.
Seconds far_latency(const Network& network);

/// Limits of a channel between places.
enum class FarLimit : std::uint8_t { none, window, loss, buffer };
struct FarChannel {
  BytesPerSecond rate = BytesPerSecond::infinite();
  FarLimit limit = FarLimit::none;
};

/// Rate of a channel between places: that of its TCP connections, and at most a buffer per round trip, since
/// the receiver frees parts of it (NCCL_STEPS) by a message to the sender.
/// @param streams connections of a channel
/// @source NCCL 2.28.9: src/transport/net.cc (a send waits for a free step), src/init.cc (sizes of buffers:
///         4 MiB for Simple, 512 threads x 8 lines of 16 bytes, half of them flags, x 8 steps for LL, 640
///         threads x 120 elements of 8 bytes x 8 steps for LL128, 15/16 of them data)
FarChannel far_channel(const Network& network, const NcclSettings& settings, Protocol protocol, int streams);

}  // namespace gradway
