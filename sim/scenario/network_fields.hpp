// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/network_conditions.hpp"
#include "sim/scenario/fields.hpp"

namespace gradway {

/// The keys of `network`, which the fabric of a platform has as well.
constexpr auto fields_of(std::type_identity<NetworkConditions>) {
  using Conditions = NetworkConditions;
  return std::tuple{
      field("round_trip", &Conditions::round_trip, value::Amount{value::Unit::pause, "40 ms"},
            "round-trip time between nodes, or between the leaves of a fabric that has some"),
      field("loss", &Conditions::loss, value::Amount{value::Unit::share, "0.01 %"},
            "share of packets that are lost between nodes; needs round_trip"),
      field("window", &Conditions::window, value::Amount{value::Unit::size, "16 MB"},
            "TCP: window of a connection; default: as large as needed"),
      field("congestion", &Conditions::congestion, value::Words{"a congestion control", congestion_words},
            "TCP: congestion control of the senders; default: cubic"),
      field("retransmission", &Conditions::retransmission,
            value::Words{"a way to retransmit", retransmission_words},
            "RDMA: what a sender repeats after a lost packet: all packets since then (go_back_n, the default "
            "but for EFA), or that packet alone (selective)"),
      field(
          "routing", &Conditions::routing, value::Words{"a routing", routing_words},
          "how leaf switches spread flows over their uplinks: by a static hash of each connection (ecmp), "
          "evenly (adaptive), or by a hash of each path of a connection, among which the sender distributes "
          "its packets (spray); default: each ring of NCCL has the uplink of its number"),
      field("paths", &Conditions::paths, value::Whole{1, 256},
            "routing spray: number of paths of a connection, which its NIC limits; default: 64 over EFA, "
            "required for other networks")};
}

}  // namespace gradway
