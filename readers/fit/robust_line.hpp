// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/cost/measured_rates.hpp"

namespace gradway {

/// An amount (bytes or operations) and its time in seconds.
struct AmountTime {
  double amount = 0;
  double time = 0;
};

/// How a base and a time per amount combine to the time of an amount.
enum class LineForm {
  sum,    ///< Base + amount * slope.
  larger  ///< The larger of base and amount * slope.
};

/// Time as a function of an amount.
struct Line {
  double base = 0;   ///< In seconds, at least 0.
  double slope = 0;  ///< In seconds per unit, above 0.
  LineForm form = LineForm::sum;

  double at(double amount) const;
};

/// The line with the least sum of |fitted / measured - 1|, which is robust against a few disturbed times. One
/// of the best lines passes through two of the points (or one, without a base), so these are tried.
/// @source Bloomfield, Steiger: Least Absolute Deviations (1983), 1.3: a best fit of two parameters passes
/// through two points; weights 1 / measured do not change that
/// @pre a point; amounts and times above 0. The time is cubic in the number of points: merge samples of one
/// amount first
Line robust_line(const std::vector<AmountTime>& points, LineForm form);

/// The smallest and the largest slope of the lines that fit all points but one; empty for fewer than four
/// points.
std::optional<std::pair<double, double>> leave_one_out_slopes(const std::vector<AmountTime>& points,
                                                              LineForm form);

/// Median and worst absolute error; empty without errors.
std::optional<FitError> fit_error(std::vector<double> errors);

}  // namespace gradway
