// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/with_network.hpp"

#include <variant>

#include "sim/base/contract.hpp"
#include "sim/platform/networks.hpp"

namespace gradway {

double arriving_share(const Network& network) {
  const auto& conditions = network.conditions;
  const auto round_trip = conditions.round_trip.value_or(Seconds{});
  if (facts_of(network.kind).has_connections) {
    const auto congestion = conditions.congestion.value_or(default_congestion);
    return delivered_share({round_trip, conditions.window, conditions.loss.value_or(0), congestion});
  }
  const auto& facts = facts_of(network.kind);
  return goodput({network.nic_rate, round_trip, facts.packet, conditions.loss.value_or(0)},
                 retransmission_of(network));
}

Retransmission retransmission_of(const Network& network) {
  const bool is_sprayed = network.conditions.routing == Routing::spray;
  return network.conditions.retransmission.value_or(is_sprayed ? Retransmission::selective
                                                               : facts_of(network.kind).retransmission);
}

HashedFlows hashed_flows(const Network& network, int queue_pairs) {
  constexpr int channels_per_nic = 2;
  const auto& uplinks = *network.uplinks;
  const auto& conditions = network.conditions;
  const int paths =
      conditions.routing == Routing::spray ? conditions.paths.value_or(facts_of(network.kind).paths) : 1;
  return {.flows = uplinks.nics * channels_per_nic * queue_pairs * paths,
          .uplinks = uplinks.count,
          .groups = 2 * uplinks.leaves};  // up from each leaf, and down to each
}

Platform with_network(Platform platform, const NetworkConditions& conditions, int queue_pairs) {
  expects(platform.network.has_value(), "the platform has a network between its nodes");
  auto& network = *platform.network;
  network.conditions = conditions;
  const auto arrives = arriving_share(network);
  network.spread = network.uplinks && network.uplinks->leaves > 1 && conditions.routing != Routing::adaptive
                       ? hashed_share(hashed_flows(network, queue_pairs))
                       : 1;
  for (const auto& link : platform.links) {
    if (link.kind != LinkKind::network) continue;
    const bool is_uplink = is_between_switches(platform, link);
    platform.resources[link.resource.index()].share = arrives * (is_uplink ? network.spread : 1);
  }
  return platform;
}

Platform with_sockets(Platform platform) {
  const auto& facts = facts_of(NetworkKind::tcp);
  auto& network = *platform.network;
  network.kind = facts.kind;
  network.gpudirect = facts.gpudirect;
  network.message_latency = facts.message_latency;
  network.stream_rate = facts.stream_rate;
  network.assumes_stream_rate = true;
  return platform;
}

void set_conditions(PlatformDescription& platform, const NetworkConditions& changes) {
  auto* hardware = std::get_if<BuiltPlatform>(&platform.hardware);
  if (hardware == nullptr || !hardware->fabric) return;
  auto& conditions = hardware->fabric->network.conditions;
  conditions = merged(conditions, changes);
}

}  // namespace gradway
