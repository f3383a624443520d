// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/cost/measured_rates.hpp"

namespace gradway {

/// An amount (bytes or operations) and the time in seconds that it took.
struct AmountTime {
  double amount = 0;
  double time = 0;
};

/// How a base and a time per amount combine to the time of an amount.
enum class LineForm {
  sum,    ///< base + amount * slope
  larger  ///< the larger of the two
};

/// Time as a function of an amount.
struct Line {
  double base = 0;   ///< in seconds, not below 0
  double slope = 0;  ///< in seconds a unit, above 0
  LineForm form = LineForm::sum;

  double at(double amount) const;
};

/// The line with the least sum of |fitted / measured - 1|, so that a few disturbed times do not matter. One
/// of the best lines meets two of the points (or one, without a base), so these are tried.
/// @source Bloomfield, Steiger: Least Absolute Deviations (1983), 1.3: a best fit of two parameters passes
/// through two points; weights 1 / measured do not change that
/// @pre a point; amounts and times above 0. Takes the cube of their number: merge samples of one amount first
Line robust_line(const std::vector<AmountTime>& points, LineForm form);

/// The smallest and the largest slope of the lines that fit all points but one; empty for fewer than four
/// points.
std::optional<std::pair<double, double>> slopes_without_one(const std::vector<AmountTime>& points,
                                                            LineForm form);

/// Median and worst absolute error; empty without errors.
std::optional<FitError> fit_error(std::vector<double> errors);

}  // namespace gradway
