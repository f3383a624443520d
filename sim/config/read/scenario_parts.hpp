// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// Reads the maps `strategy` and `parallel` of a scenario, if they exist.
void read_strategy(Reader& scenario, ScenarioSpec& spec);

/// Reads the keys of local SGD, or reports them for other kinds. @param is_local_sgd whether strategy.kind
/// says so
void read_local_sgd(Reader& strategy, bool is_local_sgd, ScenarioSpec& spec);

/// Reads the map `campaign` of a scenario, if it exists.
void read_campaign(Reader& scenario, ScenarioSpec& spec);

/// Checks the campaign against the model and the job.
void check_campaign(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    Problems& problems);

}  // namespace gradway::config
