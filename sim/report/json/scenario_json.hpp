// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "sim/scenario/scenario.hpp"

namespace gradway::report {

/// The keys of a scenario file, defaults included, so that it can be run again.
nlohmann::ordered_json scenario_json(const Scenario& scenario);

}  // namespace gradway::report
