// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway::probe {

/// Summary of the repetitions of one measurement.
struct Summary {
  Seconds median{};
  Seconds low{};   ///< 10th percentile.
  Seconds high{};  ///< 90th percentile.
  int repeats = 0;
  bool noisy = false;  ///< The median did not converge before the limit.
};

/// Half the width of a 95 % confidence interval of the median, divided by the median. It makes no assumption
/// on the distribution: the interval lies between two order statistics, by the normal approximation of the
/// binomial distribution. Infinite for fewer than 6 samples, too few for that confidence.
/// @source Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2
double median_uncertainty(std::vector<Seconds> samples);

/// @pre samples is not empty
Summary summary(const std::vector<Seconds>& samples, bool noisy);

}  // namespace gradway::probe
