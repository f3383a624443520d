// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/platform/congestion.hpp"

namespace gradway {

/// What an RDMA sender repeats after a lost packet: all packets since then, or that packet alone.
enum class Retransmission : std::uint8_t { go_back_n, selective };
inline constexpr std::array<std::string_view, 2> retransmission_words{"go_back_n", "selective"};
constexpr std::string_view name_of(Retransmission retransmission) {
  return retransmission_words[static_cast<std::size_t>(retransmission)];
}

/// How flows spread over the uplinks of leaf switches. ecmp: by a static hash of each connection. adaptive:
/// by load, packet by packet. spray: the sender distributes the packets of a connection evenly over a number
/// of paths, each of which switches hash on its own.
enum class Routing : std::uint8_t { ecmp, adaptive, spray };
inline constexpr std::array<std::string_view, 3> routing_words{"ecmp", "adaptive", "spray"};
constexpr std::string_view name_of(Routing routing) {
  return routing_words[static_cast<std::size_t>(routing)];
}

/// Distance and quality of the network between nodes, or between the leaves of a fabric that has some. The
/// platform has its own, which those of a scenario replace.
struct NetworkConditions {
  std::optional<Seconds> round_trip{};
  std::optional<Bytes> window{};                   ///< of a TCP connection; empty: as large as needed
  std::optional<double> loss{};                    ///< share of packets that are lost
  std::optional<Congestion> congestion{};          ///< TCP; empty: CUBIC, the default of Linux
  std::optional<Retransmission> retransmission{};  ///< RDMA; empty: that of the kind of network
  std::optional<Routing> routing{};                ///< empty: each ring of NCCL has the uplink of its number
  std::optional<int> paths{};  ///< of a connection with `spray`; empty: those of the kind of network

  bool operator==(const NetworkConditions&) const = default;
};

/// `changes` where it has values, else `conditions`.
NetworkConditions merged(NetworkConditions conditions, const NetworkConditions& changes);

/// Packets of a link whose losses the sender repeats.
struct LossyLink {
  BytesPerSecond rate{};  ///< at which it sends
  Seconds round_trip{};   ///< after which it learns of a loss
  Bytes packet{};
  double loss = 0;
};

/// Share of the rate that arrives for the first time. Selective: 1 - p. Go-back-N: (1 - p) / (1 - p + p N),
/// where N = 1 + rate x round trip / packet is what the sender repeats after a loss.
/// @source Bertsekas, Gallager, Data Networks, 2nd ed., section 2.4; RoCE's NICs go back N: Mittal et al.,
///         Revisiting Network Support for RDMA, SIGCOMM 2018
double goodput(const LossyLink& link, Retransmission retransmission);

}  // namespace gradway
