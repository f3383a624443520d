// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/base/units.hpp"
#include "sim/platform/congestion.hpp"

namespace gradway {

/// A wide-area path between sites and the TCP connections on it.
struct WanPath {
  BytesPerSecond rate{};          ///< capacity of the path
  Seconds rtt{};                  ///< round-trip time
  std::optional<Bytes> window{};  ///< of each connection; empty: unlimited
  double loss = 0;                ///< packet loss rate
  int streams = 1;                ///< parallel connections
  Congestion congestion = Congestion::reno;
};

/// Rate of TCP on a path. Parallel connections, each of which is limited by its window and its losses
/// (`connection_rate`), add up to the capacity of the path.
BytesPerSecond tcp_rate(const WanPath& path);

/// Ring all-reduce between sites: each sends 2 (n-1)/n of the bytes in 2 (n-1) steps of half a round trip
/// each.
/// @param sites at least 1
Seconds exchange_time(int sites, Bytes size, const WanPath& path);

/// Ring all-gather between sites: each sends n-1 times the bytes in n-1 steps of half a round trip each.
/// @param size of one site's data
Seconds gather_time(int sites, Bytes size, const WanPath& path);

}  // namespace gradway
