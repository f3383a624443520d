// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/trust/errors.hpp"

namespace gradway::report {

/// The possible errors of a prediction. Comparisons of two reports need them, because shared errors cancel.
nlohmann::ordered_json errors_json(const std::vector<PossibleError>& errors);

/// The part that contributes most to the width of the prediction interval, and what it is based on; ""
/// without errors.
std::string least_certain_part(const std::vector<PossibleError>& errors);

/// @pre `json` was made by `errors_json`
std::vector<PossibleError> errors_of(const nlohmann::ordered_json& json);

}  // namespace gradway::report
