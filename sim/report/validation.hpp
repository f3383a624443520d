// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/report/text/style.hpp"
#include "sim/trust/step_range.hpp"
#include "sim/workload/model.hpp"

namespace gradway::report {

/// One case, predicted and measured.
struct Comparison {
  std::string name;
  Seconds measured{};  ///< > 0
  Seconds predicted{};
  TimeRange range{};               ///< of the prediction
  std::optional<Anchor> anchor{};  ///< that the measured step would be, if it can be one

  /// Fraction of the measured time; positive if the prediction is too slow.
  double error() const { return (predicted - measured) / measured; }
  bool in_interval() const { return range.low <= measured && measured <= range.high; }
};

/// All cases of a file. The figures over all cases are zero if there is none.
struct Validation {
  std::string source;  ///< where the measured times come from
  std::vector<Comparison> cases;

  double mean_abs_error() const;
  double median_abs_error() const;
  double max_abs_error() const;
  double bias() const;              ///< mean of the signed errors
  std::size_t in_interval() const;  ///< how many cases
};

/// The lines to paste into a scenario: "anchor:", and its keys below.
std::string anchor_yaml(const Anchor& anchor);

/// Writes a row for each case, then mean, worst, bias and median, how many measured steps lie in their
/// interval, and what those that do not would be as anchors.
void write_table(std::ostream& out, const Validation& validation, const Style& style);

}  // namespace gradway::report
