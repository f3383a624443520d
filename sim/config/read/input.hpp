// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/read/read.hpp"

namespace gradway::config {

Dataset read_dataset(Reader& file, const std::string& name);
StorageTier read_storage(Reader& file, const std::string& name);

/// Leaves the columns that the scenario reads to its dataset.
void choose_columns(ScenarioSpec& spec, Problems& problems);

/// How samples come; names of datasets and storage are not yet looked up.
void read_input(Reader input, ScenarioSpec& spec);

}  // namespace gradway::config
