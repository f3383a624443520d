// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/fabric.hpp"

#include <vector>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/read.hpp"
#include "sim/platform/networks.hpp"

namespace gradway::config {
namespace {

const NetworkFacts* network_facts(const Node& node) {
  std::vector<std::string_view> names;
  for (const auto& known : networks()) names.push_back(known.name);
  return &networks()[index_among("a network kind", names, node)];
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
  const auto* given_facts = fabric.optional("network", network_facts, nullptr);
  const auto& facts = given_facts != nullptr ? *given_facts : facts_of(NetworkKind::wire);
  description.efficiency = fabric.optional("efficiency", efficiency, double{facts.efficiency});
  auto& network = description.network;
  network.kind = facts.kind;
  network.gpudirect = fabric.optional("gpudirect", boolean, bool{facts.gpudirect});
  network.message_latency =
      fabric.optional("message_latency", latency_or_zero, Seconds{facts.message_latency});
  network.stream_rate = read_stream_rate(fabric);
  network.assumes_stream_rate =
      !network.stream_rate && !fabric.has("window") && facts.stream_rate < BytesPerSecond::infinite();
  if (network.assumes_stream_rate) network.stream_rate = facts.stream_rate;
  network.streams = fabric.optional("streams", integer(1, 64), 1);
}

}  // namespace

FabricDescription read_fabric(Reader fabric) {
  FabricDescription description;
  description.where = fabric.where();
  const auto kind = fabric.required(
      "kind", nullopt_on_error(one_of<FabricDescription::Kind>("a fabric kind", fabric_words)));
  if (kind) description.kind = *kind;
  read_network(fabric, description);
  read_fields(fabric, description);
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
