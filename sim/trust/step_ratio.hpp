// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/trust/errors.hpp"

namespace gradway {

/// A figure and where the real one is to be expected in nine of ten cases.
struct Expected {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// How many times as long as the other's the step of one prediction takes, in nine of ten cases.
///
/// An error that both have moves both steps at once, so it counts only as far as it moves them by different
/// factors; between predictions that differ in nothing the ratio is exactly 1. The errors are independent of
/// each other: their logarithms add as squares, up and down apart. So the ratio the other way round is the
/// inverse.
Expected step_ratio(Seconds one, const std::vector<PossibleError>& of_one, Seconds other,
                    const std::vector<PossibleError>& of_other);

/// Probability that a ratio is below 1, if its logarithm is normal on either side of its value and nine of
/// ten cases are within its interval.
double probability_of_less(const Expected& ratio);

}  // namespace gradway
