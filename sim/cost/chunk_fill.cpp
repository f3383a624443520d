// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/chunk_fill.hpp"

#include <algorithm>
#include <cmath>

#include "sim/cost/channel_rate.hpp"

namespace gradway {
namespace {

/// Bytes of a chunk of NVLS or NVLSTree: the largest one, halved for smaller buffers. @param chunks number of
/// chunks that are on their way at a time
Bytes nvls_chunk(Bytes size, double chunks, const CommunicatorFacts& c) {
  auto chunk = 128_KiB;
  if (c.nodes == 1) {
    if (size < chunks * chunk * 64) chunk = 64_KiB;
    if (size < chunks * chunk * 8) chunk = 32_KiB;
    if (size < chunks * chunk * 2) chunk = 16_KiB;
    return chunk;
  }
  if (c.nodes >= 4 || size < chunks * chunk * 4) chunk = 64_KiB;
  return size < chunks * chunk ? 32_KiB : chunk;
}

/// Hops of a chunk between nodes, up a tree and down.
double tree_hops(const CommunicatorFacts& c) {
  return 2 * std::ceil(std::log2(c.nodes));
}

Seconds nvls_fill(Bytes size, const CommunicatorFacts& c) {
  constexpr int most_heads = 32;  // NCCL_MAX_NVLS_ARITY
  constexpr int further_steps = 3;
  // NVLS_NCHANNELS_SM90 and NVLS_NCHANNELS_SM100_NVL of NCCL 2.28.9; 32 in 2.26
  const int channels = c.compute_capability >= 100 ? 24 : 16;
  const double chunks = static_cast<double>(channels) * std::min(ranks_per_node(c), most_heads);
  const auto in_flight = std::min(size, chunks * nvls_chunk(size, chunks, c));
  const auto inside = in_flight / nvls_reach(c) * further_steps;
  return c.nodes == 1 ? inside : inside + in_flight / c.net_bandwidth * tree_hops(c);
}

/// A chunk goes along the GPUs of a node and between nodes, up the tree and down; the slowest hop, between
/// nodes, is in the rate already.
Seconds tree_fill(Bytes size, int channels, const CommunicatorFacts& c, const NcclSettings& settings) {
  constexpr int steps_of_buffer = 8;  // NCCL_STEPS
  const auto chunk = settings.buffer / steps_of_buffer;
  const auto in_flight = std::min(size, chunk * channels);
  const auto rate = channel_rate(c.nvlink, Algorithm::tree, Protocol::simple);
  return in_flight / channels / rate * (2.0 * (ranks_per_node(c) - 1)) +
         in_flight / c.net_bandwidth * (tree_hops(c) - 1);
}

}  // namespace

Seconds fill_of(const CollectivePlan& plan, Bytes size, const CommunicatorFacts& c,
                const NcclSettings& settings) {
  const bool reduces_between = plan.algorithm == Algorithm::nvls && c.nodes > 1;
  if (is_nvls(plan.algorithm)) return reduces_between ? Seconds{} : nvls_fill(size, c);
  const bool is_tree = plan.algorithm == Algorithm::tree && plan.protocol == Protocol::simple;
  return is_tree && c.nodes > 1 && !c.rccl ? tree_fill(size, plan.channels, c, settings) : Seconds{};
}

}  // namespace gradway
