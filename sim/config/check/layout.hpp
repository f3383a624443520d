// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// Whether ranks can be laid out as the scenario says: what it asks of the GPUs, of the model, of
/// micro-batches and of the strategy.
void check_layout(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

}  // namespace gradway::config
