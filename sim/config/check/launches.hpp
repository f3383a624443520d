// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// CUDA graphs, and loops over experts, whose rows the CPU reads back: what the job's other settings leave of
/// them.
void check_launches(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

}  // namespace gradway::config
