// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string_view>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/explain/explain.hpp"

namespace gradway::report {

/// For people: the step and what bounds it, with the evidence; what would help, the greatest gain first, each
/// as a bar (the whole width is the whole step) and in words; what would not; how to run each of them.
/// @param command that runs the scenario as it was explained: "gradway run article/g6e --set job.gpus=4"
void write_text(std::ostream& out, const Explanation& explanation, std::string_view command,
                const Style& style);

/// For programs: one document with all of it, in full precision.
JsonDocument json_document(const Explanation& explanation, std::string_view version);
void write_json(std::ostream& out, const Explanation& explanation, std::string_view version);

}  // namespace gradway::report
