// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/trust/errors.hpp"

namespace gradway {

/// A figure with its 90 % prediction interval.
struct Expected {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Ratio of two predicted steps with its 90 % prediction interval.
///
/// A shared error changes both steps, so it counts only as far as it changes them by different factors; the
/// ratio of equal predictions is exactly 1. Errors are independent: their logarithms add as squares,
/// separately up and down. So the ratio of `reference` to `step` is the inverse.
Expected step_ratio(Seconds step, const std::vector<PossibleError>& step_errors, Seconds reference,
                    const std::vector<PossibleError>& reference_errors);

/// Probability that a ratio is below 1, if its logarithm is normal on either side of its value.
double probability_of_less(const Expected& ratio);

}  // namespace gradway
