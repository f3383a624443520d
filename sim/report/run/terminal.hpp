// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/metrics/metrics.hpp"
#include "sim/report/format/style.hpp"
#include "sim/report/run/run_questions.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Writes a run for a person: what was run, what came out, where the time goes, what limits it, what it rests
/// on. No line is longer than the style's width.
void write_text(std::ostream& out, const Run& run, const Style& style, const RunQuestions& questions = {});

/// The first lines of a job that would run out of memory: all that follows is what it would take if it did
/// not.
void write_whether_it_fits(std::ostream& out, const Run& run, const Style& style);

/// Writes where the step's time goes: a bar of stacked parts, then a row for each part with its time and its
/// share. The parts add up to the step; communication that kernels hide is told beside them.
void write_breakdown(std::ostream& out, const Metrics& metrics, const Style& style);

}  // namespace gradway::report
