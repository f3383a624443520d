// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/statistics.hpp"

#include <algorithm>

#include <boost/math/distributions/binomial.hpp>

#include "sim/base/quantiles.hpp"

namespace gradway::probe {

/// The number of samples below the true median is binomially distributed. The interval leaves out as many
/// order statistics at each end as it can while it holds the median with at least 95 % probability.
double median_uncertainty(std::vector<Seconds> samples) {
  constexpr double tail = 0.025;
  if (samples.empty()) return Seconds::infinite().value();
  const boost::math::binomial below_median{static_cast<double>(samples.size()), 0.5};
  if (cdf(below_median, 0) > tail) return Seconds::infinite().value();
  const auto left_out = static_cast<std::size_t>(quantile(below_median, tail)) + 1;
  std::ranges::sort(samples);
  const auto width = samples[samples.size() - left_out] - samples[left_out - 1];
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
