// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/compare/compare.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::report {

/// A point of a sweep with its answer or error.
struct SweepPoint {
  std::vector<std::string> values{};  ///< one per axis
  Answer answer{};
  JsonDocument figures{};  ///< `metrics` of its report
  /// The report as `text_of` writes it; empty if no document of the sweep is asked for. It is kept as text,
  /// because a hundred thousand parsed reports would not fit into memory.
  std::string report{};
  std::string error{};  ///< empty if there is an answer

  /// Whether it can be ranked.
  bool fits() const { return error.empty() && answer.verdict != MemoryVerdict::does_not_fit; }
};

/// A point without its values. @param with_report whether a document is asked for
SweepPoint point_of(const Run& run, std::string_view version, bool with_report);

/// Reads a point from the report of its run, an untrusted text.
/// @return empty if the text is anything else, or lacks a metric that a sweep shows
std::optional<SweepPoint> read_point(std::string report);

/// A finished sweep, its points in the order of the cross product.
struct Sweep {
  std::string scenario;  ///< its name
  std::vector<Axis> axes;
  std::vector<SweepPoint> points;
};

/// Points that failed or do not fit are not ranked.
Ranking ranking_of(const Sweep& sweep);

/// One row per point: the varied settings, step time, throughput, exposed communication and cost, with a mark
/// for the fastest or tied points; points that do not fit say so. Then a sparkline of step times along the
/// last numeric axis (or the last axis if none is numeric) for each combination of the other axes. If space
/// is short, long titles are cut first, then exposed communication and cost are dropped, then names are cut.
void write_table(std::ostream& out, const Sweep& sweep, const Style& style);

/// One row per point: the varied keys, every metric by its name in report.json, whether the job fits, the
/// class of provenance, and the error. Quoted as in RFC 4180.
void write_csv(std::ostream& out, const Sweep& sweep);

/// One document: the axes, and under `runs` each point's settings with its report or its error.
/// @pre points that did not fail have a report
void write_json(std::ostream& out, const Sweep& sweep, std::string_view version);

/// A finished point of a shard.
struct ShardPoint {
  std::string key{};    ///< key of its report in the cache; empty if it failed
  std::string error{};  ///< why it failed
  int status = 0;       ///< the exit status of such a failure
};

/// The manifest of a finished shard, with which its reports are merged with those of the other shards.
struct SweepShard {
  Shard shard;
  std::string build;     ///< digest of the program
  std::string asked;     ///< digest of all other inputs that determine the results
  std::string scenario;  ///< its name
  std::vector<Axis> axes;
  std::vector<ShardPoint> points;  ///< in the order of `points_of`
};

void write_json(std::ostream& out, const SweepShard& shard, std::string_view version);

/// Reads what `write_json` wrote. @return empty if the text is anything else
std::optional<SweepShard> read_shard(std::string_view text);

}  // namespace gradway::report
