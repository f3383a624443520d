// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway::probe {

/// Statistics of the repetitions of one measurement.
struct Summary {
  Seconds median{};
  Seconds low{};   ///< 10th percentile
  Seconds high{};  ///< 90th percentile
  int repeats = 0;
  bool noisy = false;  ///< the median did not settle before the limit of repetitions
};

/// Half the width of a 95 % confidence interval of the median, relative to the median. The interval is
/// distribution-free: its ends are two order statistics. Infinite for fewer than 6 samples, whose range holds
/// the median with less than 95 % probability.
/// @source Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2
double median_uncertainty(std::vector<Seconds> samples);

/// @pre samples is not empty
Summary summary(const std::vector<Seconds>& samples, bool noisy);

}  // namespace gradway::probe
