// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/far_network.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/platform/networks.hpp"

namespace gradway {
namespace {

/// Data in the buffers of a channel.
Bytes in_flight(const NcclSettings& settings, Protocol protocol) {
  constexpr double steps = 8;
  constexpr Bytes ll{512 * 8 * 8 * steps};
  constexpr Bytes ll128{640 * 120 * 8 * steps * 15 / 16};
  switch (protocol) {
    case Protocol::ll:
      return ll;
    case Protocol::ll128:
      return ll128;
    case Protocol::simple:
      break;
  }
  return settings.buffer;
}

}  // namespace

int far_places(const Platform& platform, const std::vector<std::size_t>& gpus, int nodes) {
  if (!platform.network || platform.network->nodes_per_leaf == 0) return nodes;
  std::set<int> leaves;
  for (const auto gpu : gpus)
    leaves.insert(platform.device(platform.gpus[gpu]).node / platform.network->nodes_per_leaf);
  return std::min(nodes, static_cast<int>(leaves.size()));
}

double messages_in_a_row(CollectiveKind kind, Algorithm algorithm, int places) {
  if (places < 2) return 0;
  switch (algorithm) {
    case Algorithm::tree:
    case Algorithm::nvls_tree:
      return 2 * std::log2(places);
    case Algorithm::nvls:
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
      return 2;
    case Algorithm::ring:
      break;
  }
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * (places - 1);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::broadcast:
      return places - 1;
    case CollectiveKind::send_recv:
    case CollectiveKind::all_to_all:
    case CollectiveKind::send:
      break;
  }
  return 1;
}

Seconds far_latency(const Network& network) {
  const auto round_trip = network.conditions.round_trip.value_or(Seconds{});
  return std::max(Seconds{}, round_trip / 2 - network.message_latency);
}

FarChannel far_channel(const Network& network, const NcclSettings& settings, Protocol protocol, int streams) {
  const auto& conditions = network.conditions;
  const auto round_trip = conditions.round_trip.value_or(Seconds{});
  if (round_trip <= Seconds{}) return {};
  FarChannel channel{in_flight(settings, protocol) / round_trip, FarLimit::buffer};
  if (!facts_of(network.kind).has_connections) return channel;
  ConnectionLimits limits{round_trip, conditions.window, 0,
                          conditions.congestion.value_or(default_congestion)};
  const auto take = [&](FarLimit limit) {
    const auto rate = connection_rate(limits) * streams;
    if (rate < channel.rate) channel = {rate, limit};
  };
  take(FarLimit::window);
  limits.loss = conditions.loss.value_or(0);
  take(FarLimit::loss);
  return channel;
}

}  // namespace gradway
