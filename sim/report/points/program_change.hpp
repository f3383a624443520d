// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string_view>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/compare/program_change.hpp"

namespace gradway::report {

// A change of a program, on each of several platforms: the step with the sign of its change, memory,
// communication, and what changes in each module.

void write_text(std::ostream& out, const std::vector<ProgramChange>& changes, const Style& style);

/// The same in Markdown, for the review of a pull request.
void write_markdown(std::ostream& out, const std::vector<ProgramChange>& changes);

JsonDocument json_document(const std::vector<ProgramChange>& changes, std::string_view version);

}  // namespace gradway::report
