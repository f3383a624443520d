// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/networks.hpp"

#include <algorithm>
#include <vector>

#include "sim/base/contract.hpp"
#include "sim/base/rows.hpp"

namespace gradway {

namespace tables {
extern const std::string_view networks;
}

namespace {

NetworkFacts network_in(const TextRow& row, NetworkKind kind) {
  const auto has = [&](std::string_view word) {
    return std::ranges::find(row.words, word) != row.words.end();
  };
  NetworkFacts network{.kind = kind, .name = row.word(0)};
  network.efficiency = row.real("efficiency", network.efficiency);
  network.gpudirect = !has("no_gpudirect");
  network.message_latency = Seconds{row.real("latency_us", 0) / 1e6};
  network.has_connections = has("connections");
  network.packet = Bytes{row.real("packet", network.packet.value())};
  network.retransmission = has("selective") ? Retransmission::selective : Retransmission::go_back_n;
  if (const auto rate = row.real("stream_gbps", 0); rate > 0)
    network.stream_rate = BytesPerSecond{rate * 1e9};
  network.paths = row.number("paths", 0);
  return network;
}

std::vector<NetworkFacts> read_networks() {
  std::vector<NetworkFacts> kinds;
  for (const auto& row : rows_in(tables::networks))
    kinds.push_back(network_in(row, static_cast<NetworkKind>(kinds.size())));
  expects(kinds.size() == static_cast<std::size_t>(NetworkKind::tcpxo) + 1, "each kind has a row");
  return kinds;
}

}  // namespace

std::span<const NetworkFacts> networks() {
  static const auto read = read_networks();
  return read;
}

const NetworkFacts& facts_of(NetworkKind kind) {
  return networks()[static_cast<std::size_t>(kind)];
}

}  // namespace gradway
