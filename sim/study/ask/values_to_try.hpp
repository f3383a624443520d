// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The values of a key that are worth trying: `Tries` of its row, for all searches of faster settings. Empty
/// if there are none, or if the scenario implies none.
/// @param key of the strategy, or of `parallel`, `input` or `campaign`: "input.codec"
/// @pre the scenario has what the key needs
std::vector<std::string> values_to_try(const Scenario& scenario, std::string_view key);

}  // namespace gradway
