// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>

#include "sim/metrics/metrics.hpp"
#include "sim/report/format/style.hpp"
#include "sim/report/run/run_questions.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Amount of detail about a run: what decides, on one screen; or everything.
enum class Detail : std::uint8_t { brief, full };

/// Writes a run for a person: the job, the step time and its interval, where the time goes, the bottleneck,
/// cost and warnings. `Detail::full` adds provenance, the use of links and the stages of a pipeline. No line
/// is longer than the style's width.
void write_text(std::ostream& out, const Run& run, const Style& style, Detail detail,
                const RunQuestions& questions = {});

/// Writes the memory verdict of a job that would run out of memory. The results that follow it assume that
/// the GPU has enough memory. Writes nothing for other jobs.
void write_memory_verdict(std::ostream& out, const Run& run, const Style& style);

/// Writes where the step's time goes: a bar of stacked parts, then a row for each part with its time and its
/// share. The parts add up to the step. Rows of exposed communication by purpose, bubbles and overlapped
/// communication follow. `Detail::brief` omits rows that would read "0.0 %".
void write_breakdown(std::ostream& out, const Metrics& metrics, const Style& style, Detail detail);

}  // namespace gradway::report
