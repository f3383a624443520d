// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Keys of a loader that can be searched: "input.loader_workers".
const std::vector<std::string_view>& input_settings();

/// What a search tries of such a key that is named without values; the job's own value is among them where it
/// is one that can be written in a word. Empty: nothing follows from the scenario, values must be given.
/// @pre the scenario's input has a dataset
std::vector<std::string> usual_values(const Scenario& scenario, std::string_view key, const DataPath& data);

/// What a key of the input has in a scenario, as it would be written there. Empty: it is left out, or no
/// word.
std::optional<std::string> written_value(const InputSettings& input, std::string_view key);

}  // namespace gradway
