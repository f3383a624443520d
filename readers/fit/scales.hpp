// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// A time of a calibration, split into a fixed part and a part that grows with the bytes.
struct SplitTime {
  Seconds fixed{};
  Seconds moving{};

  Seconds sum() const { return fixed + moving; }
};

/// Factors of the two parts of a time from one machine to another.
struct Scales {
  double fixed = 1;
  double moving = 1;

  Seconds of(const SplitTime& time) const { return time.fixed * fixed + time.moving * moving; }
};

/// A row measured on another machine, with its time by the calibration.
struct ScaledRow {
  SplitTime calibrated;
  Seconds measured{};
};

/// Splits the time of a size of a table into a part that grows with the bytes and the rest. The former is at
/// the rate from the smallest to the largest size of the table, limited by the time.
///
/// Over SHM the times of sizes up to the one with the best rate are fixed if that rate is more than a tenth
/// above that of the largest size: the caches of the CPU served them, while machines differ in their host
/// memory (on 4 H200: 20 GB/s up to 16 MiB, 16 from 32 MiB on).
/// @pre the table has a point
SplitTime split_time(const CollectiveTable& table, Bytes size);

/// The scales with the least sum of |predicted / measured - 1|, which are robust against a few disturbed
/// rows; of equal ones, the scales closest to 1. A part that is not the larger one in any row keeps its scale
/// of 1, as no row determines it.
/// @source as robust_line: a best fit of two parameters passes through two of the rows
Scales fit_scales(const std::vector<ScaledRow>& rows);

/// Leave-one-out error of each row, as a fraction of the smaller of measured and predicted time; empty for a
/// single row.
std::vector<double> leave_one_out_errors(const std::vector<ScaledRow>& rows);

/// Bound of the error of a further row of the same kind with 90 % coverage; empty for fewer than nine errors,
/// which are too few for it.
/// @source split conformal prediction: of n exchangeable errors and one more, the latter is within the
/// ceil(0.9 (n + 1))-th smallest in 90 % of cases (Vovk, Gammerman, Shafer: Algorithmic Learning in a Random
/// World, 2005)
std::optional<double> bound_of_90_percent(std::vector<double> errors);

}  // namespace gradway
