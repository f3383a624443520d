// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/connections.hpp"

#include <algorithm>

namespace gradway {
namespace {

// The driver gives memory by pages of this size. @source NCCL 2.28.9, src/include/alloc.h (cuMem)
constexpr auto page = 2_MiB;
// A channel has three arrays on the GPU: its peers, those that communicators share, and the ring's ranks;
// NVLS adds one. @source src/channel.cc
constexpr auto of_channel = 3 * page;
// A communicator has its own structure, its queue of work and its counters.
constexpr auto of_communicator = 3 * page;
// To a GPU of the node, in both directions: the receiver holds the buffers of LL (512 KiB), LL128 (4.7 MiB)
// and Simple (4 MiB), the sender a page. GPUs that read (A100 over NVLink) move those of Simple to the
// sender.
// @source src/transport/p2p.cc (p2pSendSetup, p2pRecvSetup), src/init.cc (computeBuffSizes)
constexpr auto to_neighbour = 12_MiB;
// Over the network the sender has such buffers, too, of LL128 and Simple. @source src/transport/net.cc
constexpr auto of_network = 10_MiB;
// Sends to other nodes share a pool of 16 chunks of 128 KiB per channel, receives another.
// @source src/transport/net.cc (sharedNetBuffersInit)
constexpr auto of_pool = 2_MiB;
// For each GPU of a node and each channel of NVLS, in both directions. @source src/transport/nvls.cc
constexpr auto of_nvls = 2_MiB;
constexpr int channels_of_nvls = 16;
// Own measurement, 2026-11-30, two H200, NCCL 2.28.9, PyTorch 2.11: the first all-reduce takes 360 + 18 n MiB
// with n channels, of which 6 + 18 n are as above, and the second communicator 6 + 18 n; the first
// all-to-all 62 + 12 n, the second 12 n.
constexpr auto code = 354_MiB;
constexpr auto code_of_pairs = 62_MiB;

}  // namespace

void Connections::add(const Connections& others) {
  rings |= others.rings;
  trees |= others.trees;
  nvls |= others.nvls;
  pairs |= others.pairs;
}

Connections connections_of(CollectiveKind kind, Algorithm algorithm) {
  using enum CollectiveKind;
  if (kind == all_to_all || kind == send || kind == send_recv) return {.pairs = true};
  if (algorithm == Algorithm::ring) return {.rings = true};
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree)
    return {.trees = algorithm == Algorithm::nvls_tree, .nvls = true};
  return {.trees = true};
}

Bytes memory_of(const Connections& connections, const CommunicatorFacts& c, const NcclSettings& settings,
                int channels, bool reaches_gpus) {
  if (!connections.any()) return {};
  const auto pairs = pair_channels(c, settings);
  auto sum = of_communicator + std::max(channels, pairs.all) * of_channel;
  const int in_node = ranks_per_node(c);
  const bool on_gpu = !c.only_host_memory;  // buffers in host memory take none of the GPU's
  const auto over_network = reaches_gpus ? of_network : 0_B;
  // A rank receives from the rank before it in the ring, and in the chain of a tree also from the one after.
  const int neighbours = std::min(in_node - 1, connections.trees ? 2 : connections.rings ? 1 : 0);
  if (on_gpu) sum += neighbours * channels * to_neighbour;
  if (c.nodes > 1) {
    // In each channel one rank of a node sends to the next node; one receives, instead of from its neighbour.
    // In trees a node has one parent and, on average, one child.
    const double ends = (!connections.rings ? 0 : in_node > 1 ? 1 : 2) + (connections.trees ? 4 : 0);
    sum += ends * channels / in_node * over_network;
  }
  if (connections.nvls) sum += channels_of_nvls * (in_node * of_nvls + page);
  if (connections.pairs) {
    if (on_gpu) sum += (in_node - 1) * pairs.per_peer * to_neighbour;
    if (c.nodes > 1 && reaches_gpus) sum += 2 * pairs.all * of_pool;
  }
  return sum;
}

Bytes code_of(const Connections& connections) {
  if (!connections.any()) return {};
  return code + (connections.pairs ? code_of_pairs : 0_B);
}

}  // namespace gradway
