// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <limits>
#include <vector>

#include "sim/fit/predictions.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Samples beside what a calibration says of them: the rows that are farthest off, then the errors of each
/// group.
/// @param most_rows how many rows are shown at most; those that are not are counted
void write_check(std::ostream& out, const std::vector<PredictedRow>& rows, std::size_t most_rows,
                 const Style& style);

/// All rows and groups as one document; errors are fractions of the measured time, null where the calibration
/// says nothing.
void write_check_json(std::ostream& out, const std::vector<PredictedRow>& rows);

}  // namespace gradway::report
