// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/report/format/style.hpp"
#include "sim/run/simulate.hpp"
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
  std::string group{};             ///< what the prediction rests on, and over what ranks exchange
  bool is_given = false;           ///< the very step that the prediction was given: it proves nothing

  /// Fraction of the measured time; positive if the prediction is too slow.
  double error() const { return (predicted - measured) / measured; }
  bool in_interval() const { return range.low <= measured && measured <= range.high; }
};

/// What the intervals of a file held, by what the predictions rest on.
struct Coverage {
  std::string group;
  std::size_t cases = 0;
  std::size_t inside = 0;
};

/// All cases of a file. The figures are over those that were not given, and zero if there is none.
struct Validation {
  std::string source;  ///< where the measured times come from
  std::vector<Comparison> cases;

  std::vector<Comparison> counted() const;  ///< those that were not given
  double mean_abs_error() const;
  double median_abs_error() const;
  double max_abs_error() const;
  double bias() const;                     ///< mean of the signed errors
  std::size_t in_interval() const;         ///< how many cases
  std::vector<Coverage> coverage() const;  ///< in the order in which groups come
};

/// "measured, P2P": what a prediction rests on in short, and the transport of its exchange, or "one GPU".
std::string group_of(const Run& run);

/// The lines to paste into a scenario: "anchor:", and its keys below.
std::string anchor_yaml(const Anchor& anchor);

/// Writes a row for each case, then mean, worst, bias and median, how many measured steps lie in their
/// interval, in all and by group, and what those that do not would be as anchors.
void write_table(std::ostream& out, const Validation& validation, const Style& style);

}  // namespace gradway::report
