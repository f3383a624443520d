// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "calibration/harness/row.hpp"

namespace gradway::probe {

/// Writes the rows as one JSON list, one row per line; compressed if the name ends in .gz. The file is
/// replaced only when it is complete.
/// @throws std::runtime_error if it cannot be written
void write_samples(const std::filesystem::path& file, const std::vector<Row>& rows);

}  // namespace gradway::probe
