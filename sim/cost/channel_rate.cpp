// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/channel_rate.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {

BytesPerSecond channel_rate(bool nvlink, Algorithm algorithm, Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return nvlink ? 5.33_GBps : 2.41_GBps;
    case Protocol::ll128:
      return 16.1_GBps;
    case Protocol::simple:
      break;
  }
  if (!nvlink) return 15.8_GBps;
  return algorithm == Algorithm::tree ? 18.5_GBps : 20.9_GBps;
}

double share_of_channels(int count, int channels, BytesPerSecond together, BytesPerSecond single) {
  const auto inverse_square = [](BytesPerSecond rate) { return 1 / (rate.value() * rate.value()); };
  const auto shared = inverse_square(together) - inverse_square(single * channels);
  if (shared <= 0) return std::min(1.0, static_cast<double>(count) / channels);
  return 1 / std::sqrt(shared + inverse_square(single * count)) / together.value();
}

}  // namespace gradway
