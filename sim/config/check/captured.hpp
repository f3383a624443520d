// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// What the scenario does not say of the job is as it was captured.
void take_from_capture(ScenarioSpec& scenario, const ModelSpec& model);

/// A capture has the operations of one program: settings that would change them are refused, with what to do.
void check_captured(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

/// What of a capture is not known or was recorded otherwise than it runs.
std::vector<std::string> uncertainties_of_capture(const ModelSpec& model);

}  // namespace gradway::config
