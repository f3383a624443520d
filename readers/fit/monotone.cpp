// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/monotone.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/quantiles.hpp"

namespace gradway {

namespace {

/// Time of a size on the line through two points over logarithms; the line extends beyond them.
Seconds on_line(const SizedTime& low, const SizedTime& high, Bytes size) {
  const auto share = std::log(size / low.size) / std::log(high.size / low.size);
  return low.time * std::pow(high.time / low.time, share);
}

/// Ratio of a point's time to the prediction of its neighbours, or the inverse; at most 1 if it agrees. A
/// neighbour counts for no less than its own other neighbour allows, so that one early point does not make a
/// good point at the ends look late.
/// @pre at least three points
double distance(const std::vector<SizedTime>& points, std::size_t index) {
  const auto& point = points[index];
  if (index == 0) {
    const auto least = points[2].time * (points[1].size / points[2].size);
    return point.time / std::max(points[1].time, least);
  }
  const auto& before = points[index - 1];
  if (index + 1 == points.size()) {
    const auto same_bandwidth = std::max(before.time, points[index - 2].time) * (point.size / before.size);
    return std::max(point.time / same_bandwidth, before.time / point.time);
  }
  const auto& after = points[index + 1];
  auto late = point.time / on_line(before, after, point.size);
  // A step upwards that the next two sizes confirm is a change of NCCL's protocol, not a late time.
  if (index + 2 < points.size() && after.time <= points[index + 2].time)
    late = std::min(late, point.time / on_line(after, points[index + 2], point.size));
  return before.time <= after.time ? std::max(late, before.time / point.time) : late;
}

}  // namespace

std::vector<double> monotone_fit(const std::vector<double>& values, double share) {
  struct Pool {
    std::vector<double> values;
    double fit;
  };
  std::vector<Pool> pools;
  for (const auto value : values) {
    pools.push_back({{value}, value});
    while (pools.size() > 1 && pools[pools.size() - 2].fit > pools.back().fit) {
      const auto last = std::move(pools.back());
      pools.pop_back();
      auto& pool = pools.back();
      pool.values.insert(pool.values.end(), last.values.begin(), last.values.end());
      pool.fit = lower_quantile(pool.values, share);
    }
  }
  std::vector<double> fitted;
  for (const auto& pool : pools) fitted.insert(fitted.end(), pool.values.size(), pool.fit);
  return fitted;
}

std::vector<SizedTime> merged_by_size(std::vector<SizedTime> samples) {
  std::ranges::stable_sort(samples, {}, &SizedTime::size);
  std::vector<SizedTime> merged;
  for (auto first = samples.begin(); first != samples.end();) {
    const auto last = std::find_if(first, samples.end(),
                                   [&](const SizedTime& sample) { return sample.size != first->size; });
    std::vector<double> times;
    for (auto sample = first; sample != last; ++sample) times.push_back(sample->time.value());
    merged.push_back({first->size, Seconds{lower_quantile(times, undisturbed_quantile)}});
    first = last;
  }
  return merged;
}

std::vector<SizedTime> monotone(std::vector<SizedTime> samples) {
  auto points = merged_by_size(std::move(samples));
  std::vector<double> times;
  for (const auto& point : points) times.push_back(point.time.value());
  times = monotone_fit(times, undisturbed_quantile);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].time = Seconds{times[i]};
  return points;
}

FilteredSamples remove_outliers(std::vector<SizedTime> samples) {
  FilteredSamples filtered{std::move(samples), {}};
  auto& kept = filtered.kept;
  while (kept.size() > 2) {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < kept.size(); ++i) {
      if (distance(kept, i) > distance(kept, worst)) worst = i;
    }
    if (distance(kept, worst) <= max_outlier_ratio) break;
    filtered.outliers.push_back(kept[worst]);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(worst));
  }
  std::ranges::sort(filtered.outliers, {}, &SizedTime::size);
  return filtered;
}

}  // namespace gradway
