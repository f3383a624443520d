// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/report/format/style.hpp"
#include "sim/run/simulate.hpp"
#include "sim/trust/step_range.hpp"
#include "sim/workload/model.hpp"

namespace gradway::report {

/// One case, predicted and measured.
struct ValidationCase {
  std::string name;
  Seconds measured{};  ///< > 0
  Seconds predicted{};
  TimeRange range{};               ///< of the prediction
  std::optional<Anchor> anchor{};  ///< made of the measured step, if it can be one
  std::string group{};             ///< provenance and transport, see `group_of`
  bool is_given = false;           ///< the prediction is anchored to this step, so the case proves nothing
  std::string model{}, gpu{};      ///< names
  int gpus = 0;
  std::string_view strategy{};  ///< its kind
  std::int64_t parameters = 0;  ///< of the model

  /// Fraction of the measured time; positive if the prediction is too slow.
  double error() const { return (predicted - measured) / measured; }
  bool in_interval() const { return range.low <= measured && measured <= range.high; }
};

/// Coverage of the prediction intervals in one group of cases.
struct Coverage {
  std::string group;
  std::size_t cases = 0;
  std::size_t inside = 0;  ///< cases within their interval
};

/// All cases of a file. Statistics exclude the cases with `is_given`; they are zero if no other is left.
struct Validation {
  std::string source;  ///< where the measured times come from
  std::vector<ValidationCase> cases;

  std::vector<ValidationCase> counted() const;  ///< cases without `is_given`
  double mean_abs_error() const;
  double median_abs_error() const;
  double max_abs_error() const;
  double bias() const;                     ///< mean of the signed errors
  std::size_t in_interval() const;         ///< number of cases
  std::vector<Coverage> coverage() const;  ///< in the order of first appearance
};

/// "measured, P2P": class of provenance, and the transport of the exchange or "one GPU".
std::string group_of(const Run& run);

/// The lines to paste into a scenario: "anchor:", and its keys below.
std::string anchor_yaml(const Anchor& anchor);

/// Writes a row for each case; then the mean, worst and median error, the bias and the coverage, overall and
/// by group; then an anchor for each case outside its interval.
void write_table(std::ostream& out, const Validation& validation, const Style& style);

}  // namespace gradway::report
