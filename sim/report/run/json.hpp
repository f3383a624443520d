// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string_view>

#include "sim/report/format/json_document.hpp"
#include "sim/report/run/run_questions.hpp"
#include "sim/report/run/validation.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Writes a run as report.json: one document, full precision, the same bytes for the same run. Unknown values
/// (such as the cost of a platform without a price) are null.
/// @param version of gradway
/// @param questions what else the user asked for: `largest_batch`, `training`
JsonDocument json_document(const Run& run, std::string_view version, const RunQuestions& questions = {});
void write_json(std::ostream& out, const Run& run, std::string_view version,
                const RunQuestions& questions = {});

/// Writes predicted against measured as one document; errors are fractions of the measured time.
JsonDocument json_document(const Validation& validation);

}  // namespace gradway::report
