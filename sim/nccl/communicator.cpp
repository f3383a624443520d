// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/cost/channel_rate.hpp"
#include "sim/cost/chunk_fill.hpp"
#include "sim/cost/contention.hpp"
#include "sim/nccl/alone_time.hpp"
#include "sim/nccl/describe_communicator.hpp"
#include "sim/nccl/nvlink_rings.hpp"

namespace gradway {
namespace {

/// Bus bandwidth of all-reduces whose hops all go through the memory of hosts with PCIe 4 or older, of which
/// NCCL expects 12 to 24 GB/s. Hosts of H200s with PCIe 5 reach what it expects.
/// @source bus bandwidth: 3.1 GB/s on 4 A10G (github.com/pytorch/pytorch issue 127077), 3.65 GB/s on 8 L40S
/// (the article of January 2026), 6.1 GB/s on 8 L20 (github.com/NVIDIA/nccl issue 1817, mean over sizes);
/// geometric mean 4.1 GB/s. A factor of 2.3 around it also holds what practitioners report of such hosts, 1.7
/// to 7 GB/s
constexpr auto through_hosts = 4.1_GBps;
constexpr auto fastest_slow_slot = 24_GBps;

/// Latency of `laps` laps around the ring without the hop that no chunk needs: a chunk starts after the
/// shortest.
Seconds around(const Hops& ring, double laps) {
  Seconds sum{};
  auto least = Seconds::infinite();
  for (std::size_t i = 0; i < ring.size(); ++i) {
    sum += ring[i].latency;
    least = std::min(least, ring[i].latency);
  }
  return (sum - least) * laps;
}

}  // namespace

Communicator::Communicator(const Routes& routes, NcclSettings settings, const Calibration& calibration,
                           GpuNumbers gpus)
    : routes_{routes},
      settings_{std::move(settings)},
      calibration_{calibration},
      gpus_{std::move(gpus)},
      ways_{routes_, settings_, gpus_} {
  facts_.ranks = static_cast<int>(gpus_.size());
  if (facts_.ranks == 1) return;
  if (platform().collectives == CollectiveRules::ideal) return;
  facts_ = describe_communicator(platform(), routes_, settings_, ways_, facts_.ranks);
  far_places_ = far_places(platform(), gpus_, facts_.nodes);
  const auto& network = platform().network;
  const bool may_reduce =
      network && (network->kind == NetworkKind::infiniband || network->kind == NetworkKind::wire);
  if (facts_.collnet && !may_reduce) {
    refuse(fmt::format("NCCL_COLLNET_ENABLE: switches of platform '{}' do not reduce", platform().name),
           "only InfiniBand's do (SHARP); leave it out for others");
  }
  if (!choose_plan(CollectiveKind::all_reduce, 1_MiB, facts_, settings_)) {
    refuse("NCCL_ALGO and NCCL_PROTO exclude every algorithm and protocol of an all-reduce",
           facts_.rccl ? "RCCL has rings and trees with LL and Simple; allow one of each"
                       : "LL128 needs NVLink between all GPUs of a node; allow Simple or LL");
  }
  find_calibration();
  build_single_node_reference();
  large_ = choose(CollectiveKind::all_reduce, 256_MiB);
}

void Communicator::build_single_node_reference() {
  const bool is_nominal = calibration_.tables.empty() && calibration_.collectives.empty();
  if (facts_.nodes == 1 || (is_nominal && !facts_.only_host_memory)) return;
  auto gpus = gpus_by_domain(platform(), gpus_).front();
  if (gpus.size() == 1) return;
  // The lower bound is the best time of a node, whatever NCCL's variables demand between nodes.
  auto settings = settings_;
  settings.algo.clear();
  settings.proto.clear();
  one_node_ = std::make_unique<Communicator>(routes_, std::move(settings), calibration_, std::move(gpus));
}

/// Limits the time to at least that of a node alone, at its measured rates. With more ranks each rank sends
/// more bytes: in a ring, and on average over its ranks in a tree.
void Communicator::clamp_to_single_node(LoweredCollective& lowered, CollectiveKind kind, Bytes size,
                                        const CollectivePlan& plan) const {
  const auto& single_node = *one_node_;
  const bool is_pairs = kind == CollectiveKind::all_to_all;
  const double node_ranks = single_node.facts().ranks;
  // A chain moves the whole buffer up and down, a ring of one node less of it, direct paths as much.
  const auto byte_ratio = plan.algorithm == Algorithm::collnet_chain ? node_ranks / (node_ranks - 1)
                          : is_nvls(plan.algorithm) || is_collnet(plan.algorithm) || is_pairs
                              ? 1
                              : bus_factor(kind, facts_.ranks) / bus_factor(kind, single_node.facts().ranks);
  // Only the part of an all-to-all for ranks of the same node stays there.
  const auto alone =
      single_node.lower(kind, is_pairs ? size * single_node.facts().ranks / facts_.ranks : size);
  const auto least = time_alone(alone, platform()) * byte_ratio;
  if (time_alone(lowered, platform()) >= least) return;
  take_time(lowered, least, platform(), Rates::sped_up);
  lowered.limit = alone.limit;
  for (auto collective : alone.provenance) {
    collective.is_floor = true;
    add(lowered.provenance, {collective});
  }
}

/// Transport of the slowest hop of rings and trees.
Transport Communicator::channels_transport() const {
  return facts_.nodes > 1 ? Transport::net : facts_.transport;
}

/// NVSwitches reduce whatever path the channels take: NCCL_P2P_DISABLE does not disable NVLS.
/// @source NCCL 2.28.9 and 2.30.7: src/graph/paths.cc redirects only paths between GPUs, the search for NVLS
///         (src/graph/search.cc) follows those from a GPU to the NVSwitch, and src/transport/nvls.cc checks
///         multicast alone. Read, not tried: no node with multicast was available
Transport Communicator::transport_of(const CollectivePlan& plan) const {
  return is_nvls(plan.algorithm) && facts_.nodes == 1 ? Transport::p2p : channels_transport();
}

HardwarePart Communicator::part_of_transport() const {
  switch (channels_transport()) {
    case Transport::shm:
      return HardwarePart::host_memory;
    case Transport::net:
      return HardwarePart::network;
    case Transport::p2p:
    case Transport::none:
      break;
  }
  return facts_.nvlink ? HardwarePart::nvlink : HardwarePart::pcie;
}

/// Without measurements NVLS has a rate of its own, that of NVLink, between nodes, too.
ChannelLimit Communicator::limit_of(const CollectivePlan& plan) const {
  if (!is_nvls(plan.algorithm)) return {part_of_transport(), name_of(channels_transport())};
  const bool is_nvlink = tables_->empty() || transport_of(plan) == Transport::p2p;
  return {is_nvlink ? HardwarePart::nvlink : part_of_transport(), name_of(plan.algorithm)};
}

// Over TCP, messages pass through host memory.
Bytes Communicator::memory_of(const Connections& connections) const {
  const auto& network = platform().network;
  const bool reaches_gpus = network && network->kind != NetworkKind::tcp;
  return gradway::memory_of(connections, facts_, settings_, large_.channels, reaches_gpus);
}

bool Communicator::occupies_multiprocessors() const {
  return facts_.ranks > 1 && platform().collectives != CollectiveRules::ideal;
}

const ContentionFactors* Communicator::contention(const Footprint& kernel) const {
  if (!occupies_multiprocessors()) return nullptr;
  const auto measured_over = [&](Transport transport) {
    return measured_contention(calibration_.contention, transport, facts_.ranks, kernel, large_.channels);
  };
  if (const auto* measured = measured_over(transport_of(large_))) return measured;
  // Between nodes the multiprocessors copy as inside one.
  return facts_.nodes > 1 ? measured_over(facts_.transport) : nullptr;
}

/// Facts of a communicator with another number of ranks. Rings of a mesh of NVLinks depend on it; else the
/// rates are those of this one.
CommunicatorFacts Communicator::facts_as_measured(int ranks) const {
  const auto node = gpus_by_domain(platform(), gpus_).front();
  const auto available = std::min(ranks, static_cast<int>(platform().gpus.size()));
  const auto gpus = first_gpus(available);
  // More ranks than this node has were measured on another kind of node.
  const bool is_inside =
      facts_.nodes == 1 && available == ranks && gpus_by_domain(platform(), gpus).size() == 1;
  if (!is_inside || !has_direct_nvlinks(routes_, node)) {
    auto same = facts_;
    same.ranks = ranks;
    return same;
  }
  return describe_communicator(platform(), routes_, settings_, CollectiveWays{routes_, settings_, gpus},
                               ranks);
}

void Communicator::find_calibration() {
  const auto transport = channels_transport();
  tables_.emplace(calibration_, transport, facts_, settings_);
  if (!tables_->empty()) return;
  const auto distance = [&](const CollectiveSample& sample) { return std::abs(sample.ranks - facts_.ranks); };
  for (const auto& sample : calibration_.collectives) {
    if (sample.transport != transport) continue;
    if (!sample_ || distance(sample) < distance(*sample_)) sample_ = &sample;
  }
  if (!sample_) {
    if (facts_.nodes == 1 && facts_.only_host_memory && facts_.node_bandwidth <= fastest_slow_slot)
      calibrated_ = std::min(1.0, through_hosts / facts_.node_bandwidth);
    return;
  }
  if (sample_->nominal) facts_.node_bandwidth = std::min(facts_.node_bandwidth, *sample_->nominal);
  const auto measured = facts_as_measured(sample_->ranks);
  const auto plan = choose_plan(sample_->kind, sample_->size, measured, NcclSettings{});
  expects(plan.has_value(), "without settings NCCL always has a plan");
  if (sample_->time <= plan->latency) {
    refuse(
        fmt::format("calibration '{}': {} of {:.4g} MB on {} ranks in {:.4g} us is impossible, its latency "
                    "alone is {:.4g} us",
                    calibration_.name, name_of(sample_->kind), sample_->size.value() / 1e6, sample_->ranks,
                    sample_->time.value() * 1e6, plan->latency.value() * 1e6),
        "check its 'time' and 'size'; a large buffer shows the rate best");
  }
  calibrated_ = (sample_->size / (sample_->time - plan->latency)) / plan->algorithm_bandwidth;
}

std::optional<TableTime> Communicator::table_time(CollectiveKind kind, Bytes size,
                                                  const CollectivePlan& plan) const {
  const bool reduces_between = is_collnet(plan.algorithm) || (is_nvls(plan.algorithm) && facts_.collnet);
  if (tables_->empty() || reduces_between || transport_of(plan) != channels_transport()) return std::nullopt;
  // Both directions of a link work at the same time: one alone takes as long.
  return tables_->time(kind == CollectiveKind::send ? CollectiveKind::send_recv : kind, size, plan);
}

CollectiveProvenance Communicator::provenance_of(CollectiveKind kind, const CollectivePlan& plan,
                                                 const std::optional<TableTime>& measured) const {
  using enum CollectiveProvenance::Source;
  const auto transport = transport_of(plan);
  CollectiveProvenance collective{.kind = kind,
                                  .transport = transport,
                                  .uncertainty_transport = transport,
                                  .ranks = facts_.ranks,
                                  .nodes = facts_.nodes,
                                  .nvlink = facts_.nvlink,
                                  .rccl = facts_.rccl};
  if (measured) {
    collective.source = table;
    collective.use = measured->use;
    collective.adapted = collective.use.table->uncertainty;
    if (const auto* upper = collective.use.upper)
      collective.adapted = collective.adapted && upper->uncertainty
                               ? std::max(collective.adapted, upper->uncertainty)
                               : std::nullopt;
    const bool is_as_measured = collective.use.upper == nullptr && table_extrapolations(collective).empty();
    collective.basis = !collective.use.table->predicted_from.empty() ? Basis::predicted
                       : is_as_measured                              ? Basis::measured
                                                                     : Basis::stretched;
  } else if (is_nvls(plan.algorithm)) {
    collective.source = nvls;
  } else if (sample_) {
    collective.source = sample;
    collective.sample = sample_;
    const bool is_as_measured = sample_->ranks == facts_.ranks && !settings_.has_channel_limits();
    const bool is_borrowed = !sample_->measured_on.empty() && sample_->measured_on != platform().name;
    collective.basis = is_borrowed ? Basis::elsewhere : is_as_measured ? Basis::published : Basis::stretched;
  } else if (transport == Transport::p2p && !facts_.nvlink) {
    // P2P over PCIe crosses the same host bridges as SHM, for which NCCL assumes the same rate.
    collective.uncertainty_transport = Transport::shm;
  }
  return collective;
}

CollectivePlan Communicator::choose(CollectiveKind kind, Bytes size) const {
  auto settings = settings_;
  auto plan = choose_plan(kind, size, facts_, settings);
  if (!plan) {  // NCCL_ALGO=Tree leaves only all-reduce; NCCL then falls back to its defaults
    settings = NcclSettings{};
    plan = choose_plan(kind, size, facts_, settings);
  }
  plan->algorithm_bandwidth = rate_of(*plan, kind, with_all_channels(*plan, kind, size, facts_, settings));
  plan->latency += fill_of(*plan, size, facts_, settings);
  return *plan;
}

/// Buffer bytes per second that a plan reaches; NCCL chose it by its own estimate.
BytesPerSecond Communicator::rate_of(const CollectivePlan& plan, CollectiveKind kind,
                                     const CollectivePlan& with_all) const {
  if (is_nvls(plan.algorithm)) return nvls_reach(facts_);
  const auto rate = with_all.algorithm_bandwidth * calibrated_;
  if (plan.channels == with_all.channels) return rate;
  const auto per_channel = channel_rate(facts_.nvlink && facts_.nodes == 1, plan.algorithm, plan.protocol);
  return rate * share_of_channels(plan.channels, with_all.channels, rate * bus_factor(kind, facts_.ranks),
                                  per_channel);
}

LoweredCollective Communicator::ideal(CollectiveKind kind, Bytes size) const {
  if (kind == CollectiveKind::all_to_all) {
    LoweredCollective lowered{
        .provenance = {{.source = CollectiveProvenance::Source::ideal, .basis = Basis::given, .kind = kind}}};
    for (const auto& pair : ways_.pairs()) {
      lowered.latency = std::max(lowered.latency, pair.latency);
      lowered.flows.push_back(
          {pair.path, pair.share * size / facts_.ranks, std::numeric_limits<double>::infinity()});
    }
    return lowered;
  }
  const auto& ring = ways_.rings().front();
  const auto factor = bus_factor(kind, facts_.ranks);
  const double laps = kind == CollectiveKind::all_reduce ? 2 : 1;
  const bool one_hop = kind == CollectiveKind::send_recv || kind == CollectiveKind::send;
  const auto latency = one_hop ? ring[0].latency : around(ring, laps);
  return {
      latency,
      {{ways_.paths(kind, Algorithm::ring).front(), factor * size, std::numeric_limits<double>::infinity()}},
      {},
      {{.source = CollectiveProvenance::Source::ideal, .basis = Basis::given, .kind = kind}}};
}

/// Rate that the connections of a flow's channels reach over a hop between nodes.
double Communicator::most_of_streams(double channels) const {
  const auto& network = platform().network;
  if (facts_.nodes == 1 || !network || !network->stream_rate) {
    return std::numeric_limits<double>::infinity();
  }
  return std::max(1.0, channels) * streams() * network->stream_rate->value() *
         platform().speeds[HardwarePart::network];
}

/// TCP connections of a channel.
int Communicator::streams() const {
  const bool is_set = settings_.socket_threads || settings_.sockets_per_thread;
  return is_set ? settings_.socket_threads.value_or(1) * settings_.sockets_per_thread.value_or(1)
                : platform().network->streams;
}

/// Adds what messages take between far nodes, and limits flows to what channels carry so far. NCCL does not
/// know of the distance when it chooses.
void Communicator::add_distance(LoweredCollective& lowered, CollectiveKind kind,
                                const CollectivePlan& plan) const {
  if (far_places_ < 2 || !platform().network) return;
  const auto& network = *platform().network;
  lowered.latency += far_latency(network) * messages_in_a_row(kind, plan.algorithm, far_places_);
  const auto channel = far_channel(network, settings_, plan.protocol, streams());
  const auto paths = static_cast<double>(lowered.flows.size());
  for (std::size_t i = 0; i < lowered.flows.size(); ++i) {
    auto most = std::max(1.0, plan.channels / paths) * channel.rate.value();
    if (kind == CollectiveKind::all_to_all) {
      const auto& pair = ways_.pairs()[i];
      if (!pair.is_between_nodes) continue;
      most = pair.share * pair_channels(facts_, settings_).per_peer * channel.rate.value();
    }
    if (most >= lowered.flows[i].cap) continue;
    lowered.flows[i].cap = most;
    lowered.limit->far = channel.limit;
  }
}

std::vector<CollectiveFlow> Communicator::flows_of(CollectiveKind kind, Bytes size,
                                                   const CollectivePlan& plan, bool is_measured) const {
  if (kind == CollectiveKind::all_to_all) return flows_of_pairs(size, plan, is_measured);
  const auto& paths = ways_.paths(kind, plan.algorithm);
  const auto traffic = plan.algorithm == Algorithm::ring ? bus_factor(kind, facts_.ranks) : 1.0;
  const auto factor = traffic / static_cast<double>(paths.size());
  std::vector<CollectiveFlow> flows;
  for (const auto& path : paths)
    flows.push_back({path, factor * size, factor * plan.algorithm_bandwidth.value()});
  if (plan.algorithm == Algorithm::collnet_direct && facts_.ranks > facts_.nodes) {
    const auto inside = bus_factor(CollectiveKind::all_reduce, ranks_per_node(facts_));
    flows.push_back({ways_.nvswitches(), inside * size, inside * plan.algorithm_bandwidth.value()});
  }
  return flows;
}

/// Flows at the rates of their own transports; a measurement scales the slowest one only.
std::vector<CollectiveFlow> Communicator::flows_of_pairs(Bytes size, const CollectivePlan& plan,
                                                         bool is_measured) const {
  constexpr auto kind = CollectiveKind::all_to_all;
  auto settings = settings_;
  settings.min_channels = settings.max_channels = std::nullopt;
  const auto full_plan = with_all_channels(plan, kind, size, facts_, settings_);
  const auto reached = plan.algorithm_bandwidth / full_plan.algorithm_bandwidth;
  const auto rates = pair_rates(facts_, settings, plan.protocol);
  const auto pair_size = size / facts_.ranks;
  std::vector<CollectiveFlow> flows;
  for (const auto& pair : ways_.pairs()) {
    const auto nominal = pair.is_between_nodes ? rates.between : rates.inside;
    const bool is_slowest = pair.is_between_nodes == (facts_.nodes > 1);
    auto cap = (nominal * (is_slowest ? reached : 1)).value() * pair.share / pair.peers;
    if (pair.is_between_nodes && !is_measured)
      cap = std::min(cap, pair.share * most_of_streams(pair_channels(facts_, settings_).per_peer));
    flows.push_back({pair.path, pair.share * pair_size, cap});
  }
  return flows;
}

LoweredCollective Communicator::lower(CollectiveKind kind, Bytes size) const {
  if (facts_.ranks == 1) return {};
  if (platform().collectives == CollectiveRules::ideal) return ideal(kind, size);
  const auto plan = choose(kind, size);
  const auto measured = table_time(kind, size, plan);
  LoweredCollective lowered{.latency = plan.latency, .provenance = {provenance_of(kind, plan, measured)}};
  if (size == 0_B) {
    add_distance(lowered, kind, plan);
    return lowered;
  }
  lowered.flows = flows_of(kind, size, plan, measured.has_value());
  if (measured) take_time(lowered, measured->time, platform(), Rates::as_built);
  const bool is_bound = !measured && kind != CollectiveKind::all_to_all;
  const auto most = is_bound ? most_of_streams(plan.channels / static_cast<double>(lowered.flows.size()))
                             : std::numeric_limits<double>::infinity();
  lowered.limit = limit_of(plan);
  const auto faster = platform().speeds[lowered.limit->part];
  for (auto& flow : lowered.flows) flow.cap = std::min(most, flow.cap * faster);
  if (one_node_) clamp_to_single_node(lowered, kind, size, plan);
  add_distance(lowered, kind, plan);
  drop_negligible_flows(lowered, platform());
  return lowered;
}

}  // namespace gradway
