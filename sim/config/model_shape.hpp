// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/workload/model_shape.hpp"

namespace gradway {

/// The sizes of a scenario's model, with the scenario's changes of the model's keys.
/// @throws ConfigError with every problem of the scenario's and the model's files
ModelShape load_model_shape(const std::string& scenario, const std::vector<Override>& overrides,
                            const DataPath& data);

/// The text of a scenario's file, without what the file is based on.
/// @throws ConfigError if there is none or it cannot be read
std::string load_scenario_source(const std::string& scenario, const DataPath& data);

}  // namespace gradway
