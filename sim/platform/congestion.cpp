// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/congestion.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {
namespace {

constexpr Bytes segment{1460};

double reno_window(double loss) {
  return std::sqrt(1.5 / loss);
}

double cubic_window(double loss, Seconds round_trip) {
  constexpr double c = 0.4;
  constexpr double beta = 0.7;
  const double factor = std::pow(c * (3 + beta) / (4 * (1 - beta)), 0.25);
  return std::max(reno_window(loss), factor * std::pow(round_trip.value() / loss, 0.75));
}

}  // namespace

BytesPerSecond connection_rate(const ConnectionLimits& limits) {
  auto rate = BytesPerSecond::infinite();
  if (limits.round_trip <= Seconds{}) return rate;
  if (limits.window) rate = *limits.window / limits.round_trip;
  if (limits.loss <= 0) return rate;
  switch (limits.congestion) {
    case Congestion::reno:
      return std::min(rate, segment / limits.round_trip * reno_window(limits.loss));
    case Congestion::cubic:
      return std::min(rate, segment / limits.round_trip * cubic_window(limits.loss, limits.round_trip));
    case Congestion::bbr:
    case Congestion::bbr2:
      break;
  }
  return rate;
}

double delivered_share(const ConnectionLimits& limits) {
  constexpr Seconds shortest_probe = 200_ms;
  const auto probe = std::max(limits.round_trip, shortest_probe);
  switch (limits.congestion) {
    case Congestion::bbr:
      return (1 - limits.loss) * (1 - probe / (Seconds{10} + probe));
    case Congestion::bbr2:
      return (1 - limits.loss) * (1 - 0.5 * (probe / (Seconds{5} + probe)));
    case Congestion::reno:
    case Congestion::cubic:
      break;
  }
  return 1;
}

double most_loss(Congestion congestion) {
  switch (congestion) {
    case Congestion::bbr:
      return 1 - 1 / 1.25;
    case Congestion::bbr2:
      return 0.02;
    case Congestion::reno:
    case Congestion::cubic:
      break;
  }
  return 1;
}

}  // namespace gradway
