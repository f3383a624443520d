// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/scenario/job.hpp"

namespace gradway::report {

/// The `input` of a scenario, as a scenario gives it: a dataset or storage of its own in full, others by
/// their names.
nlohmann::ordered_json input_json(const InputSettings& input);

}  // namespace gradway::report
