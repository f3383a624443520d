// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

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

}  // namespace gradway::report
