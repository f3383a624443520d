// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/fabric.hpp"

#include <vector>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/read.hpp"
#include "sim/platform/networks.hpp"

namespace gradway::config {
namespace {

constexpr Choice<FabricDescription::Kind> fabric_kinds[] = {
    {"star", FabricDescription::Kind::star},
    {"leaf_spine", FabricDescription::Kind::leaf_spine},
    {"rail_optimised", FabricDescription::Kind::rail_optimised},
    {"rail_only", FabricDescription::Kind::rail_only}};

constexpr int most_nics = 64;  // of a node

std::vector<Choice<NetworkKind>> network_kinds() {
  std::vector<Choice<NetworkKind>> kinds;
  for (const auto& known : networks()) kinds.push_back({known.name, known.kind});
  return kinds;
}

/// Bandwidth of one connection, if it is given; windows over far links limit it by themselves.
std::optional<BytesPerSecond> read_stream_rate(Reader& fabric) {
  const auto rate = fabric.maybe("stream_bandwidth", bandwidth);
  if (rate) {
    for (const auto* key : {"window", "round_trip"}) {
      fabric.forbid(
          key,
          fmt::format("'{}' conflicts with 'stream_bandwidth': both set the bandwidth of a connection", key),
          "keep 'stream_bandwidth', or both 'window' and 'round_trip'");
    }
    return rate;
  }
  if (fabric.has("window")) fabric.required("round_trip", describe);
  return std::nullopt;
}

void read_network(Reader& fabric, FabricDescription& description) {
  static const auto kinds = network_kinds();
  const auto kind = fabric.optional(
      "network", one_of("a network kind", std::span<const Choice<NetworkKind>>{kinds}), NetworkKind::wire);
  const auto& facts = facts_of(kind);
  description.efficiency = fabric.optional("efficiency", efficiency, double{facts.efficiency});
  auto& network = description.network;
  network.kind = kind;
  network.gpudirect = fabric.optional("gpudirect", boolean, bool{facts.gpudirect});
  network.message_latency =
      fabric.optional("message_latency", latency_or_zero, Seconds{facts.message_latency});
  network.stream_rate = read_stream_rate(fabric);
  network.assumes_stream_rate =
      !network.stream_rate && !fabric.has("window") && facts.stream_rate < BytesPerSecond::infinite();
  if (network.assumes_stream_rate) network.stream_rate = facts.stream_rate;
  read_fields(fabric, network.conditions);
  network.streams = fabric.optional("streams", integer(1, 64), 1);
}

}  // namespace

FabricDescription read_fabric(Reader fabric) {
  FabricDescription description;
  description.where = fabric.where();
  const auto kind = fabric.required("kind", nullopt_on_error(one_of("a fabric kind", fabric_kinds)));
  if (kind) description.kind = *kind;
  read_network(fabric, description);
  description.bandwidth = fabric.required("bandwidth", bandwidth);
  description.latency = fabric.required("latency", latency_or_zero);
  const auto has_leaves = kind ? std::optional{*kind != FabricDescription::Kind::star} : std::nullopt;
  const LeafWords words{"nodes_per_leaf", "leaf_spine, rail_optimised or rail_only"};
  // A rail without spines has a single switch.
  const bool is_one_switch = kind == FabricDescription::Kind::rail_only && !has_any_of_leaves(fabric, words);
  if (!is_one_switch) read_leaves(fabric, description, has_leaves, words, &FabricDescription::nodes_per_leaf);
  if (!kind || description.has_rails()) {
    description.nics_per_leaf = fabric.optional("nics_per_leaf", integer(1, most_nics), 1);
  } else {
    fabric.forbid("nics_per_leaf", "'nics_per_leaf' requires the kind rail_optimised or rail_only",
                  "leave it out");
  }
  fabric.finish();
  return description;
}

}  // namespace gradway::config
