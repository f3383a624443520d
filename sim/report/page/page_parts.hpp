// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/report/page/page.hpp"
#include "sim/report/points/sweep.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

// Parts of the data of report.html; web/DATA.md lists their keys. Times are microseconds since the start of
// the reported step, with a resolution of one nanosecond.

/// `timeline`: the slices of at most four ranks (one per class of identical ranks) in the reported step.
/// Slices that cross the start or end of the step are given in full. If there are too many slices, short
/// neighbours of one phase are joined.
nlohmann::ordered_json timeline_json(const Run& run);

/// `buckets`: when the gradients of each DDP bucket were ready and when its collectives ran, in the reported
/// step on rank 0.
nlohmann::ordered_json buckets_json(const Run& run);

/// `use`: use of the busiest links and memories over the reported step, averaged over parts of it if it
/// changes often.
nlohmann::ordered_json use_json(const Run& run);

/// `memory_over_step`: the memory by part over the moments of the step, on the GPU that needs most; null if
/// it is unknown. Of neighbouring moments only the largest are kept if there are many.
nlohmann::ordered_json memory_over_step_json(const Run& run);

/// The platform of a run as a graph, each link and memory with its use in the reported step: the key
/// `platform` of web/DATA.md. Large platforms show only their first nodes and the adjacent switches of the
/// fabric.
nlohmann::ordered_json platform_json(const Run& run);

/// The passes of a pipeline in the reported step, a row for each stage; null without one. See web/DATA.md.
nlohmann::ordered_json pipeline_json(const Run& run);

/// "vit_l_32 on aws-g6e.48xlarge". @pre the point has a report
std::string model_and_platform(const SweepPoint& point);

/// The data of a sweep that the page shows, by key: a few hundred bytes per point instead of ten thousand for
/// its report. See web/DATA.md.
nlohmann::ordered_json sweep_points_json(const Sweep& sweep);

/// The document of kind `plan`: see web/DATA.md.
nlohmann::ordered_json plan_document(const PlanPage& plan, std::string_view version);

}  // namespace gradway::report
