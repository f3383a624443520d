// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/fit/json_row.hpp"
#include "sim/fit/samples.hpp"

namespace gradway {

// Each adds a row. @throws ConfigError at what is wrong with it
void add_copy(const JsonRow& row, LinkRole role, Samples& samples);
void add_pattern(const JsonRow& row, Samples& samples);

}  // namespace gradway
