// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/scenario_keys.hpp"

namespace gradway::config {

/// The rows of the table of keys for the group `campaign`.
std::vector<ScenarioKey> campaign_keys();

}  // namespace gradway::config
