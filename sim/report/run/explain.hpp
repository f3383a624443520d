// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string_view>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/explain/explain.hpp"

namespace gradway::report {

/// Writes an explanation for a person: the step and its bottleneck with the evidence; what would help,
/// largest gain first, each as a bar (its full width is the step) and in words; what would not help; the
/// commands that run each of these.
/// @param command that runs the scenario as it was explained: "gradway run article/g6e --set job.gpus=4"
void write_text(std::ostream& out, const Explanation& explanation, std::string_view command,
                const Style& style);

/// The same as one JSON document, in full precision.
JsonDocument json_document(const Explanation& explanation, std::string_view version);
void write_json(std::ostream& out, const Explanation& explanation, std::string_view version);

}  // namespace gradway::report
