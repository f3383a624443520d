// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/format/style.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::report {

/// What came of a point: a report as `write_json` writes it, or why there is none.
struct SweepPoint {
  std::vector<std::string> values;  ///< one an axis
  std::string report;
  std::string error;  ///< empty if there is a report
};

/// A finished sweep, its points in the order of the cross product.
struct Sweep {
  std::string scenario;  ///< its name
  std::vector<Axis> axes;
  std::vector<SweepPoint> points;
};

/// Points that failed or do not fit are not ranked.
Ranking ranking_of(const Sweep& sweep);

/// Is the text a report of a run as `write_json` writes it, with all the metrics that a sweep shows?
bool is_report(std::string_view text);

/// One row a point: what was varied, step time, throughput, exposed communication, cost; the fastest marked,
/// or those that are tied; what does not fit says so instead. Then a sparkline of the step times over the
/// last axis of numbers (or, if there is none, the last axis) for each combination of the others. Where there
/// is no room, long titles are cut, then exposed communication and cost are left out, and only then are names
/// cut.
void write_table(std::ostream& out, const Sweep& sweep, const Style& style);

/// One row a point: the varied keys, every metric by its name in report.json, whether the job fits, what the
/// prediction rests on, and the error. Quoted as RFC 4180 says.
void write_csv(std::ostream& out, const Sweep& sweep);

/// One document: the axes, and under `runs` each point's settings with its report or its error.
void write_json(std::ostream& out, const Sweep& sweep, std::string_view version);

}  // namespace gradway::report
