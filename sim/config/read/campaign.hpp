// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// Reads the map `campaign` of a scenario, if it is there.
void read_campaign(Reader& scenario, ScenarioSpec& spec);

/// The campaign against the model and the job.
void check_campaign(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    Problems& problems);

}  // namespace gradway::config
