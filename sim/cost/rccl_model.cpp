// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/rccl_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradway {
namespace {

/// LL and Simple of a ring or a tree.
struct LlOrSimple {
  double ll;
  double simple;
  double of(Protocol protocol) const { return protocol == Protocol::ll ? ll : simple; }
};

constexpr LlOrSimple rccl_base_us{12.0, 17.0};  // rings and trees
constexpr LlOrSimple rccl_ring_hop_us{0.8, 2.1};
constexpr LlOrSimple rccl_tree_hop_us{0.9, 2.3};
constexpr LlOrSimple rccl_pci_hop_us{2.2, 5.7};  // rings and trees
constexpr LlOrSimple rccl_ring_net_us{9.5, 25.0};
constexpr LlOrSimple rccl_tree_net_us{10.5, 25.0};
constexpr double ring_net_simple_chosen_us = 320.0;

/// Shares of the rate of all rings, for one and two nodes and for more.
constexpr LlOrSimple ring_ratio{0.08, 1.0};
constexpr std::array<LlOrSimple, 2> tree_ratio{{{0.06, 0.11}, {0.06, 0.59}}};
/// What a tree with Simple reaches of its links, as in NCCL's model.
constexpr double tree_reach = 0.92;

/// Corrections by size, of powers of two from 64 B on.
using BySize = std::array<double, 27>;
constexpr BySize tree_ll{.1, .1, .1, .1, .1, .1, 1,  1,  1,  1,  1,  .6, 1, .9,
                         1,  1,  .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1};
constexpr BySize tree_simple{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                             .1, .7, 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  .8};
constexpr BySize ring_ll{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1,  .2, 1,
                         .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1};
constexpr BySize ring_simple{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                             .1, .1, .1, .1, .1, .1, .1, .1, .1, .8, 1,  1,  1};

bool runs_in_rings(Algorithm algorithm) {
  return algorithm == Algorithm::ring;
}

/// Steps of a ring between nodes.
double net_steps(CollectiveKind kind, int nodes) {
  if (nodes == 1) return 0;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * nodes;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return nodes - 1;
    default:
      return nodes;
  }
}

Seconds ring_time(CollectiveKind kind, Protocol protocol, double net_us, const CommunicatorFacts& c) {
  const double overhead = (c.amd_cpu ? 2.0 : 1.0) * (protocol == Protocol::simple ? 3 : 1);
  const auto hop = (c.nvlink ? rccl_ring_hop_us : rccl_pci_hop_us).of(protocol);
  const double inside = c.nodes == 1 ? hop : std::max(hop, overhead);
  const double net = net_us + c.net_latency.value() * 1e6;
  const bool is_pair =
      kind == CollectiveKind::send_recv || kind == CollectiveKind::send || kind == CollectiveKind::all_to_all;
  if (is_pair) return Seconds{(rccl_base_us.of(protocol) + (c.nodes == 1 ? hop : net)) * 1e-6};
  const double total = kind == CollectiveKind::all_reduce  ? 2.0 * (c.ranks - 1)
                       : kind == CollectiveKind::broadcast ? c.ranks
                                                           : c.ranks - 1;
  const auto between = std::min(total, net_steps(kind, c.nodes));
  return Seconds{(rccl_base_us.of(protocol) + (total - between) * inside + between * net) * 1e-6};
}

Seconds tree_time(Protocol protocol, const CommunicatorFacts& c) {
  const auto hop = (c.nvlink ? rccl_tree_hop_us : rccl_pci_hop_us).of(protocol);
  const double net = rccl_tree_net_us.of(protocol) + c.net_latency.value() * 1e6;
  const double inside = static_cast<double>(c.ranks) / c.nodes - 1;
  return Seconds{(rccl_base_us.of(protocol) + 2 * (inside * hop + std::log2(c.nodes) * net)) * 1e-6};
}

double correction(Algorithm algorithm, Protocol protocol, Bytes size, int nodes) {
  if (runs_in_rings(algorithm) && nodes == 1) return 1;
  const auto power = std::floor(std::log2(std::max(size.value(), 64.0) / 64));
  const auto size_index = static_cast<std::size_t>(std::min(power, 26.0));
  const bool is_ll = protocol == Protocol::ll;
  if (runs_in_rings(algorithm)) return is_ll ? ring_ll[size_index] : ring_simple[size_index];
  return is_ll ? tree_ll[size_index] : tree_simple[size_index];
}

}  // namespace

bool rccl_has(Algorithm algorithm, Protocol protocol, const CommunicatorFacts& c) {
  if (protocol == Protocol::ll128) return false;
  if (runs_in_rings(algorithm)) return true;
  return algorithm == Algorithm::tree && (protocol == Protocol::ll || c.nodes > 1);
}

Channels rccl_channels(const CommunicatorFacts& c, const NcclSettings& settings) {
  const auto inside = c.node_bandwidth.value();
  const auto rate = c.nodes == 1         ? inside
                    : c.ranks == c.nodes ? c.net_bandwidth.value()
                                         : std::min(inside, c.net_bandwidth.value());
  constexpr int of_a_ring = 4;
  constexpr int of_a_nic = 8;
  const auto default_count = c.nodes == 1 ? of_a_ring * std::max(1, c.mesh_links) : of_a_nic * c.nics;
  auto count = default_count;
  if (settings.min_channels) count = std::max(count, *settings.min_channels);
  if (settings.max_channels) count = std::min(count, *settings.max_channels);
  return {count, BytesPerSecond{rate / std::max(count, default_count)}};
}

double rccl_bus(Algorithm algorithm, Protocol protocol, const CommunicatorFacts& c) {
  const auto channels = rccl_channels(c, {});
  const auto rate = channels.count * channels.each.value() / 1e9;
  if (protocol == Protocol::simple) return runs_in_rings(algorithm) ? rate : rate * tree_reach;
  return rate * (runs_in_rings(algorithm) ? ring_ratio.ll : tree_ratio[c.nodes <= 2 ? 0 : 1].ll);
}

Seconds rccl_latency(Algorithm algorithm, CollectiveKind kind, Protocol protocol,
                     const CommunicatorFacts& c) {
  return runs_in_rings(algorithm) ? ring_time(kind, protocol, rccl_ring_net_us.of(protocol), c)
                                  : tree_time(protocol, c);
}

Seconds rccl_estimate(const CollectivePlan& plan, CollectiveKind kind, Bytes size,
                      const CommunicatorFacts& c) {
  auto latency = plan.latency;
  auto rate = plan.algorithm_bandwidth.value() * correction(plan.algorithm, plan.protocol, size, c.nodes);
  const bool is_simple = plan.protocol == Protocol::simple;
  if (runs_in_rings(plan.algorithm) && is_simple && c.nodes > 1)
    latency +=
        Seconds{(ring_net_simple_chosen_us - rccl_ring_net_us.simple) * 1e-6} * net_steps(kind, c.nodes);
  if (!runs_in_rings(plan.algorithm) && is_simple)
    rate *= tree_ratio[c.nodes <= 2 ? 0 : 1].simple / tree_reach;
  return latency + size / BytesPerSecond{rate};
}

}  // namespace gradway
