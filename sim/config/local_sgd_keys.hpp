// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/scenario_keys.hpp"

namespace gradway::config {

/// The rows of the table of keys for workers that seldom meet, in the group `strategy`.
std::vector<ScenarioKey> local_sgd_keys();

}  // namespace gradway::config
