// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/nccl_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <span>

#include "sim/cost/calibration_words.hpp"
#include "sim/cost/rccl_model.hpp"

namespace gradway {
namespace {

// Source of all constants: NCCL 2.28.9, src/graph/tuning.cc and src/graph/search.cc. Units are microseconds
// and GB/s, as there. Protocols are in the order LL, LL128, Simple.
using ByProtocol = std::array<double, 3>;

constexpr std::array<ByProtocol, 2> base_latency_us{{{6.6, 14.0, 8.4}, {6.8, 14.0, 8.4}}};  // ring, tree
constexpr std::array<ByProtocol, 2> nvlink_hop_us{{{0.6, 1.9, 3.4}, {0.6, 1.25, 4.0}}};
constexpr std::array<ByProtocol, 2> pci_hop_us{{{1.0, 2.5, 5.7}, {1.0, 1.9, 4.0}}};
constexpr std::array<ByProtocol, 2> net_hop_us{{{2.7, 4.0, 14.0}, {5.0, 8.5, 14.0}}};
constexpr double nvls_us = 25.0;  // NVLink row of NVLS and NVLSTree, which have no base latency
constexpr double nvls_tree_net_us = 20.9;
constexpr double nvls_net_us = 18.0;
struct CollnetHops {
  double inside_us;
  double net_us;
};
constexpr CollnetHops collnet_direct_hops{3.7, 31.0}, collnet_chain_hops{2.8, 30.0};  // no base latency
constexpr double collnet_peer_us = 0.4;  // per further GPU of the node
constexpr double collnet_direct_hopper = 0.85;
constexpr int collnet_direct_most = 8;  // ranks per node

enum Generation { volta, ampere, hopper, blackwell };
Generation generation(int compute_capability) {
  if (compute_capability >= 100) return blackwell;
  if (compute_capability >= 90) return hopper;
  return compute_capability >= 80 ? ampere : volta;
}

constexpr std::array<double, 4> ll_max_one_node{39.0, 87.7, 141.0, 282.0};
constexpr std::array<std::array<double, 2>, 2> ll_max_nodes{
    {{39.0, 22.5}, {20.4, 19.0}}};      // [2, more][intel, amd]
using ByNodes = std::array<double, 3>;  // one, two, more nodes
constexpr std::array<ByNodes, 4> ring_ll128_channel{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
constexpr std::array<ByNodes, 4> tree_ll128_channel{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr std::array<ByNodes, 4> tree_channel{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};

constexpr std::array<ByNodes, 4> nvls_tree_channel{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96.0, 80.0}}};
constexpr double nvls_efficiency_hopper = 0.85;
constexpr double nvls_efficiency_blackwell = 0.74;
constexpr int nvls_channels = 16;  // "not more than 16 to get peak bandwidth"

constexpr std::array<std::array<double, 24>, 3> tree_by_size{{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

std::size_t index(Protocol protocol) {
  return static_cast<std::size_t>(protocol);
}
std::size_t index(Algorithm algorithm) {
  return static_cast<std::size_t>(algorithm);
}

std::span<const double> speeds(int compute_capability) {
  static constexpr std::array<double, 13> before_hopper{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
  static constexpr std::array<double, 11> hopper_list{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
  static constexpr std::array<double, 12> blackwell_list{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
  switch (generation(compute_capability)) {
    case blackwell:
      return blackwell_list;
    case hopper:
      return hopper_list;
    default:
      return before_hopper;
  }
}

/// Number of steps of a chunk.
double steps(CollectiveKind kind, int ranks) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * (ranks - 1);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return ranks - 1;
    case CollectiveKind::broadcast:
      return ranks;
    case CollectiveKind::send_recv:
    case CollectiveKind::all_to_all:
    case CollectiveKind::send:
      return 1;
  }
  return 0;
}

/// Latency of a hop between nodes in microseconds: NCCL's figure plus that of the network, which counts twice
/// for Simple, since it needs a flush.
double net_hop(double nccl_us, Protocol protocol, const CommunicatorFacts& c) {
  return nccl_us + c.net_latency.value() * 1e6 * (protocol == Protocol::simple ? 2 : 1);
}

/// Latency of the steps of a chunk around a ring. @param between number of steps between nodes
Seconds ring_steps(double total, double between, Protocol protocol, const CommunicatorFacts& c) {
  const auto a = index(Algorithm::ring);
  const auto hop = (c.nvlink ? nvlink_hop_us : pci_hop_us)[a][index(protocol)];
  const double overhead = (c.amd_cpu ? 2.0 : 1.0) * (protocol == Protocol::simple ? 3 : 1);
  const double inside = c.nodes == 1 ? hop : std::max(hop, overhead);
  const double net = net_hop(net_hop_us[a][index(protocol)], protocol, c);
  return Seconds{((total - between) * inside + between * net) * 1e-6};
}

Seconds ring_latency(CollectiveKind kind, Protocol protocol, const CommunicatorFacts& c) {
  if (c.rccl) return rccl_latency(Algorithm::ring, kind, protocol, c);
  const auto a = index(Algorithm::ring);
  const auto p = index(protocol);
  const auto hop = (c.nvlink ? nvlink_hop_us : pci_hop_us)[a][p];
  const bool is_pairs = kind == CollectiveKind::send || kind == CollectiveKind::all_to_all;
  if (is_pairs && c.nodes > 1)
    return Seconds{(base_latency_us[a][p] + net_hop(net_hop_us[a][p], protocol, c)) * 1e-6};
  if (is_pairs || kind == CollectiveKind::broadcast || kind == CollectiveKind::send_recv) {
    return Seconds{(base_latency_us[a][p] + hop) * 1e-6};
  }
  const double total = steps(kind, c.ranks);
  const double between = c.nodes == 1 ? 0 : (kind == CollectiveKind::all_reduce ? 2.0 : 1.0) * (c.nodes - 1);
  return Seconds{base_latency_us[a][p] * 1e-6} + ring_steps(total, between, protocol, c);
}

/// Latency of all hops of a broadcast after the first one, which NCCL's estimate omits. They are significant:
/// ZeRO-1 with one broadcast per rank or tensor takes 3.2 s longer on 1,024 A100s than on 8.
/// @source NCCL 2.28.9, src/graph/tuning.cc: a single hop for broadcast and reduce;
///         github.com/InternLM/InternLM v0.1.0, doc/en/train_performance.md
Seconds further_hops(CollectiveKind kind, Protocol protocol, const CommunicatorFacts& c) {
  if (kind != CollectiveKind::broadcast || c.ranks < 2 || c.rccl) return {};
  const auto first = (c.nvlink ? nvlink_hop_us : pci_hop_us)[index(Algorithm::ring)][index(protocol)];
  const auto chain = ring_steps(c.ranks - 1, c.nodes - 1, protocol, c);
  return std::max(Seconds{}, chain - Seconds{first * 1e-6});
}

Seconds tree_latency(Protocol protocol, const CommunicatorFacts& c) {
  const auto a = index(Algorithm::tree);
  const auto p = index(protocol);
  const double hop = (c.nvlink ? nvlink_hop_us : pci_hop_us)[a][p];
  const double a_node = static_cast<double>(c.ranks) / c.nodes;
  const double between = std::log2(c.nodes) * net_hop(net_hop_us[a][p], protocol, c);
  return Seconds{(base_latency_us[a][p] + 2 * ((a_node - 1) * hop + between)) * 1e-6};
}

Seconds nvls_tree_latency(const CommunicatorFacts& c) {
  const double between = std::log2(c.nodes) * net_hop(nvls_tree_net_us, Protocol::simple, c);
  return Seconds{(nvls_us + 2 * between) * 1e-6};
}

/// On several nodes, network switches reduce the results of the NVSwitches.
Seconds nvls_latency(const CommunicatorFacts& c) {
  const double between = c.nodes == 1 ? 0 : net_hop(nvls_net_us, Protocol::simple, c);
  return Seconds{(nvls_us + between) * 1e-6};
}

/// Latency to the network switch and back. A single rank per node has the network latency of a tree.
Seconds collnet_latency(Algorithm algorithm, const CommunicatorFacts& c) {
  const bool is_direct = algorithm == Algorithm::collnet_direct;
  const auto& hops = is_direct ? collnet_direct_hops : collnet_chain_hops;
  const double peers = static_cast<double>(c.ranks) / c.nodes - 1;
  const double inside =
      is_direct ? std::min(1.0, peers) * hops.inside_us + peers * collnet_peer_us : peers * hops.inside_us;
  const auto net_us = peers == 0 ? net_hop_us[index(Algorithm::tree)][index(Protocol::simple)] : hops.net_us;
  return Seconds{(2 * inside + net_hop(net_us, Protocol::simple, c)) * 1e-6};
}

/// GB/s of bus bandwidth that the NVSwitches of a node allow.
double nvls_inside(const CommunicatorFacts& c) {
  const bool is_blackwell = generation(c.compute_capability) == blackwell;
  const auto efficiency = is_blackwell ? nvls_efficiency_blackwell : nvls_efficiency_hopper;
  // NCCL's factor (channels - 1) / channels
  return 2 * c.nvlink_bandwidth.value() / 1e9 * efficiency * (nvls_channels - 1) / nvls_channels;
}

/// GB/s of bus bandwidth.
double nvls_bus(Algorithm algorithm, const CommunicatorFacts& c) {
  const auto gen = static_cast<std::size_t>(generation(c.compute_capability));
  const auto inside = nvls_inside(c);
  if (c.nodes == 1) return inside;
  if (algorithm == Algorithm::nvls) return std::min(inside, c.net_bandwidth.value() / 1e9);
  const auto between = c.net_bandwidth.value() / 1e9 * (c.nodes == 2 ? 2 : 1);
  return std::min({inside, between, nvls_channels * nvls_tree_channel[gen][c.nodes == 2 ? 1 : 2]});
}

/// GB/s before halving, as for a tree. If each GPU has a NIC, every GPU reduces a part; with fewer NICs, half
/// of the additional cost is hidden.
double collnet_bus(Algorithm algorithm, const NcclSettings& settings, const CommunicatorFacts& c) {
  // NCCL uses the rate within nodes, which its graph search limits to twice the rate between nodes.
  auto bus = 2 * c.net_bandwidth.value() / 1e9;
  if (c.ranks > c.nodes) {
    auto node = c;
    node.nodes = 1;
    const auto channels = search_channels(node, settings);
    bus = std::min(bus, channels.count * channels.each.value() / 1e9);
  }
  if (algorithm == Algorithm::collnet_chain) return bus;
  const double gpus_a_nic = static_cast<double>(c.ranks) / c.nodes / c.nics;
  return bus / ((gpus_a_nic + 1) / 2) * (c.compute_capability >= 90 ? collnet_direct_hopper : 1);
}

double ll_max(const CommunicatorFacts& c) {
  if (c.nodes == 1) return ll_max_one_node[generation(c.compute_capability)];
  return ll_max_nodes[c.nodes == 2 ? 0 : 1][c.amd_cpu ? 1 : 0];
}

/// GB/s of bus bandwidth of rings and trees, after the corrections of NCCL's model.
double corrected(Algorithm algorithm, Protocol protocol, Bytes size, const Channels& channels,
                 const CommunicatorFacts& c) {
  if (c.rccl) return rccl_bus(algorithm, protocol, c);
  const auto gen = static_cast<std::size_t>(generation(c.compute_capability));
  const auto nodes = static_cast<std::size_t>(std::min(c.nodes, 3) - 1);
  auto bus = channels.count * channels.each.value() / 1e9;
  if (algorithm == Algorithm::ring) {
    if (protocol == Protocol::ll) return std::min(ll_max(c), bus * 0.5);
    if (protocol == Protocol::ll128)
      return std::min(bus * 0.92, channels.count * ring_ll128_channel[gen][nodes]);
    return bus;
  }
  bus = std::min(bus * 0.92, channels.count * tree_channel[gen][nodes]);
  if (protocol == Protocol::ll) bus = std::min(bus / 3.8, ll_max(c));
  if (protocol == Protocol::ll128) {
    bus = std::min(bus * (c.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                   channels.count * tree_ll128_channel[gen][nodes]);
  }
  const auto by_size = std::clamp(std::log2(std::max(size.value(), 64.0) / 64), 0.0, 23.0);
  return bus * tree_by_size[index(protocol)][static_cast<std::size_t>(by_size)];
}

Seconds latency_of(Algorithm algorithm, CollectiveKind kind, Protocol protocol, const CommunicatorFacts& c) {
  if (c.rccl) return rccl_latency(algorithm, kind, protocol, c);
  if (is_collnet(algorithm)) return collnet_latency(algorithm, c);
  if (is_nvls(algorithm)) return algorithm == Algorithm::nvls ? nvls_latency(c) : nvls_tree_latency(c);
  return algorithm == Algorithm::ring ? ring_latency(kind, protocol, c) : tree_latency(protocol, c);
}

/// Whether NCCL takes an algorithm over several NVLink domains of several hosts of its own accord. For large
/// buffers on three partitions of GB200s it takes rings, against the estimate of its model: without
/// NCCL_ALGO, busbw is the NICs' rate. From which size on was not published; small buffers are assumed to use
/// trees, since a ring over racks has thousands of steps.
/// @source github.com/NVIDIA/nccl issue 1801
bool is_taken_between_racks(Algorithm algorithm, Bytes size) {
  constexpr auto large = 256_MiB;
  if (algorithm == Algorithm::tree) return size < large;
  return algorithm != Algorithm::nvls_tree;
}

bool available(Algorithm algorithm, Protocol protocol, CollectiveKind kind, const CommunicatorFacts& c) {
  if (algorithm != Algorithm::ring && kind != CollectiveKind::all_reduce) return false;
  if (c.rccl) return rccl_has(algorithm, protocol, c);
  if (c.unordered_network && c.nodes > 1 && protocol != Protocol::simple) return false;
  if (is_nvls(algorithm)) {
    if (!c.nvls || protocol != Protocol::simple) return false;
    return algorithm == Algorithm::nvls ? c.nodes == 1 || c.collnet : c.nodes > 1;
  }
  if (is_collnet(algorithm)) {
    const bool is_direct = algorithm == Algorithm::collnet_direct;
    const bool has_way = !is_direct || (c.nvswitch && ranks_per_node(c) <= collnet_direct_most);
    return c.collnet && has_way && protocol == Protocol::simple;
  }
  if (protocol == Protocol::ll128)
    return c.nvlink && c.compute_capability >= 70 && (c.nodes == 1 || c.ranks > c.nodes);
  return true;
}

/// NCCL's own estimate. If paths between GPUs are not NVLink (NCCL_P2P_DISABLE), it uses its latencies of
/// PCIe for NVLS, too, which are zero.
/// @source NCCL 2.28.9: src/graph/search.cc starts with the best path between two GPUs, src/graph/tuning.cc
/// uses
///         the row of its kind
Seconds nccl_estimate(const CollectivePlan& plan, CollectiveKind kind, Bytes size,
                      const CommunicatorFacts& c) {
  if (c.rccl) return rccl_estimate(plan, kind, size, c);
  const auto omitted = is_nvls(plan.algorithm) && !c.nvlink ? Seconds{nvls_us * 1e-6} : Seconds{};
  return plan.estimate(size) - omitted - further_hops(kind, plan.protocol, c);
}

int power_of_two_from(int least) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, least))));
}

CollectivePlan plan_of_pairs(Bytes size, const CommunicatorFacts& c, const NcclSettings& settings) {
  constexpr auto most_by_ll = 16_KiB;  // NCCL_P2P_LL_THRESHOLD, per channel
  const auto channels = pair_channels(c, settings);
  const auto protocol = size / c.ranks <= most_by_ll * channels.per_peer ? Protocol::ll : Protocol::simple;
  const auto rates = pair_rates(c, settings, protocol);
  const double inside = ranks_per_node(c) - 1;
  const double between = c.ranks - 1 - inside;
  double slowest = 0;  // seconds per byte that each peer gets
  if (inside > 0) slowest = inside / rates.inside.value();
  if (between > 0) slowest = std::max(slowest, between / rates.between.value());
  return {Algorithm::ring, protocol, channels.all, ring_latency(CollectiveKind::all_to_all, protocol, c),
          BytesPerSecond{c.ranks / slowest}};
}

}  // namespace

BytesPerSecond nccl_nvlink_rate(int compute_capability) {
  if (compute_capability >= 100) return 40.1_GBps;
  return compute_capability >= 90 ? 20.6_GBps : 20_GBps;
}

int ranks_per_node(const CommunicatorFacts& c) {
  return std::max(1, (c.ranks + c.nodes - 1) / c.nodes);
}

PairRates pair_rates(const CommunicatorFacts& c, const NcclSettings& settings, Protocol protocol) {
  auto node = c;
  node.nodes = 1;
  node.ranks = ranks_per_node(c);
  const auto channels = search_channels(node, settings);
  const BytesPerSecond inside{corrected(Algorithm::ring, protocol, {}, channels, node) * 1e9};
  const auto of_nics = c.net_bandwidth / node.ranks;
  return {inside, protocol == Protocol::ll ? of_nics / 2 : of_nics};
}

PairChannels pair_channels(const CommunicatorFacts& c, const NcclSettings& settings) {
  constexpr auto a_net_channel = 14_GBps;  // NCCL_P2P_PER_CHANNEL_NET_BW
  auto node = c;
  node.nodes = 1;
  const auto channels = power_of_two_from(search_channels(c.ranks == c.nodes ? c : node, settings).count);
  int per_peer = 2;
  if (c.nodes > 1) {
    per_peer = static_cast<int>(std::ceil(c.net_bandwidth / a_net_channel));
  } else if (c.nvlink) {
    per_peer = 2 * std::max(1, static_cast<int>(c.node_bandwidth / nccl_nvlink_rate(c.compute_capability)));
  }
  return {channels, std::min(channels, power_of_two_from(per_peer))};
}

double bus_factor(CollectiveKind kind, int ranks) {
  if (ranks == 1) return 0;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * (ranks - 1) / ranks;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return static_cast<double>(ranks - 1) / ranks;
    case CollectiveKind::broadcast:
    case CollectiveKind::send_recv:
    case CollectiveKind::send:
      return 1;
  }
  return 1;
}

Channels search_channels(const CommunicatorFacts& c, const NcclSettings& settings, Algorithm algorithm) {
  if (c.rccl) return rccl_channels(c, settings);
  // NCCL counts channels at the rate between nodes.
  const auto inside = (c.ranks == c.nodes ? c.net_bandwidth : c.node_bandwidth).value() / 1e9;
  const auto total = c.nodes == 1 ? inside : std::min(inside, c.net_bandwidth.value() / 1e9);
  // NCCL accepts a graph that fills the links. Speeds are whole numbers, so that they rarely do exactly.
  constexpr double filled = 0.95;
  const auto speeds_of_channels = speeds(c.compute_capability);
  Channels best{1, BytesPerSecond{std::min(total, speeds_of_channels.back()) * 1e9}};
  for (const auto speed : speeds_of_channels) {
    const auto count = static_cast<int>(total / speed);
    if (count == 0) continue;
    if (count * speed > best.count * best.each.value() / 1e9) best = {count, BytesPerSecond{speed * 1e9}};
    if (count * speed >= filled * total) break;
  }
  const auto fast = best.each >= BytesPerSecond{25e9};
  const auto keep = c.compute_capability > 80 && best.each < BytesPerSecond{50e9} && best.count > 4;
  if (fast && !keep) best = {best.count * 2, best.each / 2};
  // Trees have as many channels as rings; on two nodes NCCL takes them for as fast as within a node.
  if (c.nodes == 2 && algorithm == Algorithm::tree) {
    const auto fits = [&](double speed) { return best.count * speed <= inside; };
    const auto speed = std::ranges::find_if(speeds_of_channels, fits);
    if (speed != speeds_of_channels.end()) best.each = std::max(best.each, BytesPerSecond{*speed * 1e9});
  }
  best = {best.count * 2, best.each / 2};
  const auto bus = best.count * best.each.value();
  auto count = best.count;
  if (settings.min_channels) count = std::max(count, *settings.min_channels);
  if (settings.max_channels) count = std::min(count, *settings.max_channels);
  // Fewer channels have a lower total rate; more channels than the search found share the same rate.
  return count < best.count ? Channels{count, best.each} : Channels{count, BytesPerSecond{bus / count}};
}

std::vector<CollectivePlan> candidate_plans(CollectiveKind kind, Bytes size, const CommunicatorFacts& c,
                                            const NcclSettings& settings) {
  if (kind == CollectiveKind::all_to_all) return {plan_of_pairs(size, c, settings)};
  std::vector<CollectivePlan> plans;
  for (const auto algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::nvls, Algorithm::nvls_tree,
                               Algorithm::collnet_direct, Algorithm::collnet_chain}) {
    const auto channels = search_channels(c, settings, algorithm);
    for (const auto protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (!available(algorithm, protocol, kind, c)) continue;
      if (!settings.allows(algorithm) && kind == CollectiveKind::all_reduce) continue;
      if (!settings.allows(protocol)) continue;
      if (c.multi_node_nvlink && settings.algo.empty() && !is_taken_between_racks(algorithm, size)) continue;
      const double bus = is_nvls(algorithm)      ? nvls_bus(algorithm, c)
                         : is_collnet(algorithm) ? collnet_bus(algorithm, settings, c)
                                                 : corrected(algorithm, protocol, size, channels, c);
      const bool is_halved = algorithm == Algorithm::tree || is_collnet(algorithm);
      const double to_algorithm = is_halved ? 0.5 : 1 / bus_factor(kind, c.ranks);
      auto latency = latency_of(algorithm, kind, protocol, c) + further_hops(kind, protocol, c);
      const bool bulk = size.value() / (channels.count * c.ranks) >= 64;
      if (algorithm == Algorithm::ring && protocol == Protocol::simple && !c.rccl &&
          kind == CollectiveKind::all_reduce && c.nodes > 1 && bulk) {
        latency = latency * (c.compute_capability >= 80 ? 1.4 : 1.9);
      }
      const auto count = is_nvls(algorithm)
                             ? std::min(settings.max_channels.value_or(nvls_channels), nvls_channels)
                             : channels.count;
      plans.push_back({algorithm, protocol, count, latency, BytesPerSecond{bus * to_algorithm * 1e9}});
    }
  }
  return plans;
}

std::optional<CollectivePlan> choose_plan(CollectiveKind kind, Bytes size, const CommunicatorFacts& c,
                                          const NcclSettings& settings) {
  auto plans = candidate_plans(kind, size, c, settings);
  if (c.prefers_nvls_tree) {
    const auto is_preferred = [](const auto& plan) { return plan.algorithm == Algorithm::nvls_tree; };
    if (std::ranges::any_of(plans, is_preferred)) std::erase_if(plans, std::not_fn(is_preferred));
  }
  const auto best = std::ranges::min_element(
      plans, {}, [&](const auto& plan) { return nccl_estimate(plan, kind, size, c); });
  return best == plans.end() ? std::nullopt : std::optional{*best};
}

CollectivePlan with_all_channels(const CollectivePlan& plan, CollectiveKind kind, Bytes size,
                                 const CommunicatorFacts& c, NcclSettings settings) {
  if (!settings.has_channel_limits()) return plan;
  settings.min_channels = settings.max_channels = std::nullopt;
  for (const auto& candidate : candidate_plans(kind, size, c, settings))
    if (candidate.algorithm == plan.algorithm && candidate.protocol == plan.protocol) return candidate;
  return plan;
}

BytesPerSecond nvls_reach(const CommunicatorFacts& c) {
  return BytesPerSecond{nvls_inside(c) * nvls_reached / bus_factor(CollectiveKind::all_reduce, c.ranks) *
                        1e9};
}

std::string_view name_of(Transport transport) {
  constexpr std::array<std::string_view, 4> names{"none", "P2P", "SHM", "NET"};
  return names[static_cast<std::size_t>(transport)];
}

std::string_view name_of(Algorithm algorithm) {
  constexpr std::array<std::string_view, algorithm_count> names{"ring",     "tree",          "NVLS",
                                                                "NVLSTree", "CollNetDirect", "CollNetChain"};
  return names[index(algorithm)];
}

std::string_view name_of(Protocol protocol) {
  return calibration_words::protocol_tags[index(protocol)];
}

}  // namespace gradway
