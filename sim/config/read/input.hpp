// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/read/read.hpp"

namespace gradway::config {

Dataset read_dataset(Reader& file, const std::string& name);
StorageTier read_storage(Reader& file, const std::string& name);

/// Reduces the dataset to the columns that the scenario reads.
void choose_columns(ScenarioSpec& spec, Problems& problems);

/// Checks what depends on the kind of a cold tier and on the dataset. @pre both have been read
void check_staging(const ScenarioSpec& spec, Problems& problems);

/// Reads the map `input`; names of datasets and storage tiers are not looked up.
void read_input(Reader input, ScenarioSpec& spec);

}  // namespace gradway::config
