// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// What precision fp8 asks of recipe, strategy and model, and settings that mean nothing without it.
void check_fp8(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

}  // namespace gradway::config
