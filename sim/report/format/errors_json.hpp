// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "sim/trust/errors.hpp"

namespace gradway::report {

/// What a prediction may be off by, one error each: whoever compares two reports needs to know which they
/// share.
nlohmann::ordered_json errors_json(const std::vector<PossibleError>& errors);

/// @pre what `errors_json` gave
std::vector<PossibleError> errors_of(const nlohmann::ordered_json& json);

}  // namespace gradway::report
