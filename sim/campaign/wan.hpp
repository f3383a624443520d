// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/base/units.hpp"

namespace gradway {

/// A way between sites, and the TCP connections on it.
struct WanPath {
  BytesPerSecond rate{};          ///< that the way carries
  Seconds rtt{};                  ///< of a packet and its acknowledgement
  std::optional<Bytes> window{};  ///< of each connection; empty: as large as it takes
  double loss = 0;                ///< share of packets
  int streams = 1;                ///< connections side by side
};

/// What TCP makes of a way: a connection carries at most a window in a round trip, and with losses
/// MSS/RTT x sqrt(3/2)/sqrt(p); several carry so many times that, until the way is full.
/// @source Mathis, Semke, Mahdavi, Ott, Computer Communication Review 27(3), 1997 (Reno; CUBIC does a little
/// better at long round trips); MSS of Ethernet: 1,460 bytes
BytesPerSecond tcp_rate(const WanPath& path);

/// A ring all-reduce between sites: each sends 2 (n-1)/n of the bytes in 2 (n-1) steps, which each take half
/// a round trip. @param sites at least 1
Seconds exchange_time(int sites, Bytes size, const WanPath& path);

/// A ring all-gather of what differs from site to site: each passes on n-1 times the bytes, in n-1 steps of
/// half a round trip. @param size of one site's
Seconds gather_time(int sites, Bytes size, const WanPath& path);

}  // namespace gradway
