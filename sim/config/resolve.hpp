// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read.hpp"

namespace gradway::config {

/// Checks what several files say against each other. Problems are reported at the place in the scenario that
/// named the thing, with a note to what it clashes with. All specs must have been read without a problem.
void check_scenario(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    const GpuSpec& gpu, Problems& problems);

}  // namespace gradway::config
