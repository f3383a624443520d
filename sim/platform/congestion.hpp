// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// Congestion control of a TCP sender.
enum class Congestion : std::uint8_t { reno, cubic, bbr, bbr2 };
inline constexpr std::array<std::string_view, 4> congestion_words{"reno", "cubic", "bbr", "bbr2"};
constexpr std::string_view name_of(Congestion congestion) {
  return congestion_words[static_cast<std::size_t>(congestion)];
}

/// What limits the rate of one TCP connection on an otherwise empty path.
struct ConnectionLimits {
  Seconds round_trip{};
  std::optional<Bytes> window{};  ///< largest amount in flight; empty: unlimited
  double loss = 0;                ///< share of packets that are lost
  Congestion congestion = Congestion::reno;
};

/// Largest rate of a connection: a window per round trip, and the response to random losses of a sender that
/// slows down after each (Reno, CUBIC). Infinite without either limit.
///
/// Reno: MSS/RTT x sqrt(3/2)/sqrt(p). CUBIC: in segments, the larger of Reno's window and
/// (C (3 + b) / (4 (1 - b)))^(1/4) x RTT^(3/4) / p^(3/4) with C = 0.4 and b = 0.7. BBR does not respond to
/// losses below `most_loss`.
/// @source Mathis, Semke, Mahdavi, Ott, Computer Communication Review 27(3), 1997; RFC 9438,
/// sections 4.3, 5.1
///         and 5.2; MSS of Ethernet: 1,460 bytes
BytesPerSecond connection_rate(const ConnectionLimits& limits);

/// Share of a path's capacity that connections deliver if nothing else limits them. BBR sends at the measured
/// rate of the path, of which lost packets are no use, and drains its queue to measure the round trip: for
/// 200 ms or a round trip, every 10 s down to 4 packets (version 1), every 5 s down to half a window
/// (version 2). 1 for Reno and CUBIC, which fill the queue.
/// @source Cardwell, Cheng, Gunn, Yeganeh, Jacobson, ACM Queue 14(5), 2016 (ProbeRTT costs 2 %);
///         draft-cardwell-iccrg-bbr-congestion-control-02, section 2 (constants of version 2)
double delivered_share(const ConnectionLimits& limits);

/// Loss from which on the rate collapses, which is not modelled; 1: none. BBR: a probe at 1.25 of the rate no
/// longer finds the path's rate. Version 2: each round trip exceeds its loss threshold.
/// @source as for `delivered_share`; the figure of version 1 is 1 - 1/1.25
double most_loss(Congestion congestion);

}  // namespace gradway
