// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/wan.hpp"

#include <algorithm>

namespace gradway {

BytesPerSecond tcp_rate(const WanPath& path) {
  const ConnectionLimits limits{path.rtt, path.window, path.loss, path.congestion};
  return std::min(path.rate * delivered_share(limits), connection_rate(limits) * path.streams);
}

Seconds exchange_time(int sites, Bytes size, const WanPath& path) {
  const auto steps = 2.0 * (sites - 1);
  return size * (steps / sites) / tcp_rate(path) + path.rtt * (steps / 2);
}

Seconds gather_time(int sites, Bytes size, const WanPath& path) {
  const auto steps = sites - 1.0;
  return size * steps / tcp_rate(path) + path.rtt * (steps / 2);
}

}  // namespace gradway
