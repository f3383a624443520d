// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/outliers.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {
namespace {

/// Time of a size on the line through two points over logarithms, also beyond them.
Seconds on_line(const SizedTime& low, const SizedTime& high, Bytes size) {
  const auto share = std::log(size / low.size) / std::log(high.size / low.size);
  return low.time * std::pow(high.time / low.time, share);
}

/// How many times farther than its neighbours say the time of one point is, in either direction; 1 or less:
/// not. A neighbour counts for no less than its own other neighbour allows, so that one early point makes no
/// late one of a good one at the ends.
/// @pre three points or more
double distance(const std::vector<SizedTime>& points, std::size_t at) {
  const auto& point = points[at];
  if (at == 0) {
    const auto least = points[2].time * (points[1].size / points[2].size);
    return point.time / std::max(points[1].time, least);
  }
  const auto& before = points[at - 1];
  if (at + 1 == points.size()) {
    const auto same_bandwidth = std::max(before.time, points[at - 2].time) * (point.size / before.size);
    return std::max(point.time / same_bandwidth, before.time / point.time);
  }
  const auto& after = points[at + 1];
  auto late = point.time / on_line(before, after, point.size);
  // A step upwards that the next two sizes confirm is NCCL's change of protocol, not a late time.
  if (at + 2 < points.size() && after.time <= points[at + 2].time)
    late = std::min(late, point.time / on_line(after, points[at + 2], point.size));
  return before.time <= after.time ? std::max(late, before.time / point.time) : late;
}

}  // namespace

Sifted sift(std::vector<SizedTime> samples) {
  Sifted sifted{std::move(samples), {}};
  auto& kept = sifted.kept;
  while (kept.size() > 2) {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < kept.size(); ++i) {
      if (distance(kept, i) > distance(kept, worst)) worst = i;
    }
    if (distance(kept, worst) <= farthest_from_neighbours) break;
    sifted.outliers.push_back(kept[worst]);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(worst));
  }
  std::ranges::sort(sifted.outliers, {}, &SizedTime::size);
  return sifted;
}

}  // namespace gradway
