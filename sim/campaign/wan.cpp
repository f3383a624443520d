// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/wan.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {

BytesPerSecond tcp_rate(const WanPath& path) {
  constexpr Bytes segment{1460};
  auto one = path.rate;
  if (path.window && path.rtt > Seconds{}) one = std::min(one, *path.window / path.rtt);
  if (path.loss > 0 && path.rtt > Seconds{})
    one = std::min(one, segment / path.rtt * std::sqrt(1.5 / path.loss));
  return std::min(path.rate, one * path.streams);
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
