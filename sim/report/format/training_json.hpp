// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/study/compare/training.hpp"

namespace gradway::report {

/// What a whole training takes and costs, and which limits it keeps ("yes", "may", "no"); what was not asked
/// for or is not known is null.
nlohmann::ordered_json training_json(const Training& training);

}  // namespace gradway::report
