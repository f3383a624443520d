// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/monotone.hpp"

#include <algorithm>

#include "sim/base/quantiles.hpp"

namespace gradway {

std::vector<double> rising_fit(const std::vector<double>& values, double share) {
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
    const auto last =
        std::find_if(first, samples.end(), [&](const SizedTime& one) { return one.size != first->size; });
    std::vector<double> times;
    for (auto one = first; one != last; ++one) times.push_back(one->time.value());
    merged.push_back({first->size, Seconds{lower_quantile(times, quiet_quantile)}});
    first = last;
  }
  return merged;
}

std::vector<SizedTime> monotone(std::vector<SizedTime> samples) {
  auto points = merged_by_size(std::move(samples));
  std::vector<double> times;
  for (const auto& point : points) times.push_back(point.time.value());
  times = rising_fit(times, quiet_quantile);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].time = Seconds{times[i]};
  return points;
}

}  // namespace gradway
