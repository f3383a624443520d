// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/base/units.hpp"

namespace gradway {

/// A wide-area path between sites and the TCP connections on it.
struct WanPath {
  BytesPerSecond rate{};          ///< capacity of the path
  Seconds rtt{};                  ///< round-trip time
  std::optional<Bytes> window{};  ///< of each connection; empty: unlimited
  double loss = 0;                ///< packet loss rate
  int streams = 1;                ///< parallel connections
};

/// Rate of TCP on a path. A connection carries at most one window per round trip, and with losses at most
/// MSS/RTT x sqrt(3/2)/sqrt(p). Parallel connections add up to the capacity of the path.
/// @source Mathis, Semke, Mahdavi, Ott, Computer Communication Review 27(3), 1997 (Reno; CUBIC is slightly
/// faster at long round trips); MSS of Ethernet: 1,460 bytes
BytesPerSecond tcp_rate(const WanPath& path);

/// Ring all-reduce between sites: each sends 2 (n-1)/n of the bytes in 2 (n-1) steps of half a round trip
/// each.
/// @param sites at least 1
Seconds exchange_time(int sites, Bytes size, const WanPath& path);

/// Ring all-gather between sites: each sends n-1 times the bytes in n-1 steps of half a round trip each.
/// @param size of one site's data
Seconds gather_time(int sites, Bytes size, const WanPath& path);

}  // namespace gradway
