// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/points/sweep.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

// Parts of what report.html is given; web/DATA.md lists their keys. Dates are microseconds since the start of
// the reported step, in whole nanoseconds.

/// `timeline`: what at most four ranks, one for each class of ranks that do the same, did in the reported
/// step. Slices that reach over an end of the step are given in full. Of very many, short neighbours of one
/// phase are joined.
nlohmann::ordered_json timeline_json(const Run& run);

/// `buckets`: when the gradients of each bucket of DDP were there, and when its collectives ran, in the
/// reported step on rank 0.
nlohmann::ordered_json buckets_json(const Run& run);

/// `use`: how much of the busiest links and memories was in use over the reported step; on average over parts
/// of it where it changes very often.
nlohmann::ordered_json use_json(const Run& run);

/// The platform of a run as a graph, each link and memory with its use in the reported step: the key
/// `platform` of web/DATA.md. Of large platforms the first nodes are shown, with the switches of the fabric
/// that lie around them.
nlohmann::ordered_json platform_json(const Run& run);

/// The passes of a pipeline in the reported step, a row for each stage; null without one. See web/DATA.md.
nlohmann::ordered_json pipeline_json(const Run& run);

/// What the page shows of the points of a sweep, key by key: of a hundred thousand points a few hundred bytes
/// each, where their reports have ten thousand. See web/DATA.md.
nlohmann::ordered_json sweep_points_json(const Sweep& sweep);

}  // namespace gradway::report
