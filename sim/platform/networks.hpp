// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Defaults of a kind of network. A platform file can replace each figure.
struct NetworkFacts {
  NetworkKind kind = NetworkKind::wire;
  std::string_view name;  ///< in files
  double efficiency = 1;  ///< payload rate of a link as a fraction of its wire rate
  bool gpudirect = true;
  Seconds message_latency{};
  bool has_connections = false;  ///< of TCP, with windows and congestion control; `wire` may be either
  Bytes packet{4096};            ///< payload of a packet of RDMA
  Retransmission retransmission = Retransmission::go_back_n;
  BytesPerSecond stream_rate = BytesPerSecond::infinite();  ///< largest rate of one connection
  int paths = 0;  ///< over which a NIC sprays the packets of a connection; 0: unknown
};

/// Congestion control of TCP on the platforms. @source Linux, net.ipv4.tcp_congestion_control
inline constexpr Congestion default_congestion = Congestion::cubic;

/// All kinds of network, in the order of `NetworkKind`: the rows of networks.txt, with the source of each
/// figure.
std::span<const NetworkFacts> networks();
const NetworkFacts& facts_of(NetworkKind kind);

}  // namespace gradway
