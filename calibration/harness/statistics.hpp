// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway::probe {

/// What repetitions of one measurement say.
struct Summary {
  Seconds median{};
  Seconds low{};   ///< their 10th percentile
  Seconds high{};  ///< their 90th percentile
  int repeats = 0;
  bool noisy = false;  ///< they did not settle before the limit
};

/// Half the width of a 95 % confidence interval of the median, over the median. It assumes nothing of the
/// distribution: the interval lies between two order statistics, by the normal approximation of the binomial
/// law. Infinite for fewer than 6 samples, of which no two lie around the median that surely.
/// @source Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2
double median_uncertainty(std::vector<Seconds> samples);

/// @pre samples is not empty
Summary summary(const std::vector<Seconds>& samples, bool noisy);

}  // namespace gradway::probe
