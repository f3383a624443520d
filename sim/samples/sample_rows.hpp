// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/samples/json_row.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Adds one row to the samples. @throws ConfigError if it is no row of a probe
void add_sample_row(const JsonRow& row, Samples& samples);

}  // namespace gradway
