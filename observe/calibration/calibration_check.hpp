// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <limits>
#include <vector>

#include "readers/fit/predictions.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Compares samples with what a calibration predicts: the rows with the largest errors, then the errors of
/// each group.
/// @param most_rows number of rows to show at most; the others are counted
void write_check(std::ostream& out, const std::vector<PredictedRow>& rows, std::size_t most_rows,
                 const Style& style);

/// All rows and groups as one document. Errors are fractions of the measured time; they are null for rows
/// without a prediction.
void write_check_json(std::ostream& out, const std::vector<PredictedRow>& rows);

}  // namespace gradway::report
