// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/warning.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// Sets the job's settings that the scenario does not contain to those of a captured model.
void apply_capture_defaults(ScenarioSpec& scenario, const ModelSpec& model);

/// Reports settings that would change the operations of a captured model, which are those of one program.
void check_captured(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

/// Warnings of a captured model; none for other models.
std::vector<Warning> capture_warnings(const Model& model);

}  // namespace gradway::config
