// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "calibration/harness/statistics.hpp"

namespace gradway::probe {

/// One row of a file of samples (calibration/SAMPLES.md); keys keep their order.
using Row = nlohmann::ordered_json;

/// The row with the results of its repetitions: seconds, low, high, repeats and, if so, noisy.
Row measured(Row row, const Summary& summary);

}  // namespace gradway::probe
