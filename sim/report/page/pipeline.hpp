// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// The passes of a pipeline in the reported step, a row for each stage; null without one. See web/DATA.md.
nlohmann::ordered_json pipeline_json(const Run& run);

}  // namespace gradway::report
