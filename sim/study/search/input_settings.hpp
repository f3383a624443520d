// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Keys of a data loader that can be searched, such as "input.loader_workers".
const std::vector<std::string_view>& input_settings();

/// The values to try for such a key if none are given. They include the job's own value if it can be written
/// as one word. Empty if the scenario implies none, so that values must be given.
/// @pre the scenario's input has a dataset
std::vector<std::string> usual_values(const Scenario& scenario, std::string_view key, const DataPath& data);

/// The value of a key of the input, as a scenario would have it. None if it is left out or is not one word.
std::optional<std::string> written_value(const InputSettings& input, std::string_view key);

}  // namespace gradway
