// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/campaign/local_sgd.hpp"
#include "sim/scenario/local_sgd.hpp"

namespace gradway::report {

/// Adds the keys of workers that seldom meet to those of their strategy, as a scenario has them.
void add_local_sgd_keys(nlohmann::ordered_json& strategy, const LocalSgd& settings);

/// What workers do every so many steps, with full precision.
nlohmann::ordered_json outer_loop_json(const OuterLoop& loop, const LocalSgd& settings);

}  // namespace gradway::report
