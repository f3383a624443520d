// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// What can be computed again, and which models can be fine-tuned with adapters, under which strategies.
void check_recompute(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
void check_finetune(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

}  // namespace gradway::config
