// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/report/text/style.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway::report {

/// One case, predicted and measured.
struct Comparison {
  std::string name;
  Seconds measured{};  ///< > 0
  Seconds predicted{};
  TimeRange range{};  ///< of the prediction

  /// Fraction of the measured time; positive if the prediction is too slow.
  double error() const { return (predicted - measured) / measured; }
};

/// All cases of a file. The figures over all cases are zero if there is none.
struct Validation {
  std::string source;  ///< where the measured times come from
  std::vector<Comparison> cases;

  double mean_abs_error() const;
  double median_abs_error() const;
  double max_abs_error() const;
  double bias() const;  ///< mean of the signed errors
};

/// Writes a row for each case, then mean, worst, bias and median.
void write_table(std::ostream& out, const Validation& validation, const Style& style);

}  // namespace gradway::report
