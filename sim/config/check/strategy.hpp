// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// What a strategy asks of the job and of the model, and settings that mean nothing without others.
void check_strategy(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

}  // namespace gradway::config
