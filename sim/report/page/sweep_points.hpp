// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/points/sweep.hpp"

namespace gradway::report {

/// What the page shows of the points of a sweep, key by key: of a hundred thousand points a few hundred bytes
/// each, where their reports have ten thousand. See web/DATA.md.
nlohmann::ordered_json sweep_points_json(const Sweep& sweep);

}  // namespace gradway::report
