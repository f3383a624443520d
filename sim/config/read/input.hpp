// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/read/read.hpp"

namespace gradway::config {

Dataset read_dataset(Reader& file, const std::string& name);
StorageTier read_storage(Reader& file, const std::string& name);

/// Reduces the dataset to the columns that the scenario reads.
void choose_columns(ScenarioSpec& spec, Problems& problems);

/// Reports keys that the loader does not have.
void check_loader(Reader& input, const InputSettings& settings);

/// Reduces the dataset to the rows that the predicate selects, and reports keys of other formats than the
/// dataset's, and formats that the loader cannot read.
void choose_rows(ScenarioSpec& spec, Problems& problems);

/// What DALI needs to decode on the GPU.
void check_nvjpeg(const ScenarioSpec& spec, const Gpu& gpu, Problems& problems);

/// tf.data's AUTOTUNE: without a number of threads, those that the node has for the rank.
void tune_threads(ScenarioSpec& spec, const Platform& platform);
/// Checks what depends on the kind of a cold tier and on the dataset. @pre both have been read
void check_staging(const ScenarioSpec& spec, Problems& problems);

/// Reads the map `input`; names of datasets and storage tiers are not looked up.
void read_input(Reader input, ScenarioSpec& spec);

}  // namespace gradway::config
