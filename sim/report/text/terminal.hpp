// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/run_questions.hpp"
#include "sim/report/text/style.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Writes a run for a person: what was run, what came out, where the time goes, what limits it, what it rests
/// on. No line is longer than the style's width.
void write_text(std::ostream& out, const Run& run, const Style& style, const RunQuestions& questions = {});

}  // namespace gradway::report
