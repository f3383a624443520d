// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/quantiles.hpp"

namespace gradway::probe {
namespace {

constexpr std::size_t fewest_for_an_interval = 6;  // 1 - 2 * 0.5^6 = 96.9 %, with 5 it would be 93.8 %
constexpr double normal_quantile = 1.959964;       // For 97.5 %.

}  // namespace

double median_uncertainty(std::vector<Seconds> samples) {
  const auto count = samples.size();
  if (count < fewest_for_an_interval) return Seconds::infinite().value();
  std::ranges::sort(samples);
  const auto half = static_cast<double>(count) / 2;
  const auto reach = normal_quantile * std::sqrt(static_cast<double>(count)) / 2;
  // Order statistics, counted from 1: rounded outwards, within the samples.
  const auto first = std::max(1.0, std::floor(half - reach));
  const auto last = std::min(static_cast<double>(count), std::ceil(half + reach + 1));
  const auto width =
      samples[static_cast<std::size_t>(last) - 1] - samples[static_cast<std::size_t>(first) - 1];
  const auto median = quantile(std::move(samples), 0.5);
  if (median <= Seconds{}) return width > Seconds{} ? Seconds::infinite().value() : 0;
  return width / median / 2;
}

Summary summary(const std::vector<Seconds>& samples, bool noisy) {
  return {.median = quantile(samples, 0.5),
          .low = quantile(samples, 0.1),
          .high = quantile(samples, 0.9),
          .repeats = static_cast<int>(samples.size()),
          .noisy = noisy};
}

}  // namespace gradway::probe
