// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/format/style.hpp"
#include "sim/report/points/point_result.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::report {

/// What came of a point: its result, or why there is none.
struct SweepPoint {
  std::vector<std::string> values;  ///< one an axis
  PointResult result{};
  /// The report as `text_of` writes it; empty where no document of the sweep is asked for. It is a text
  /// because a hundred thousand reports would fill the memory as values.
  std::string report{};
  std::string error{};  ///< empty if there is a result
};

/// A finished sweep, its points in the order of the cross product.
struct Sweep {
  std::string scenario;  ///< its name
  std::vector<Axis> axes;
  std::vector<SweepPoint> points;
};

/// Points that failed or do not fit are not ranked.
Ranking ranking_of(const Sweep& sweep);

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
/// @pre points that did not fail have a report
void write_json(std::ostream& out, const Sweep& sweep, std::string_view version);

}  // namespace gradway::report
