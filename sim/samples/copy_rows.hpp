// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/samples/json_row.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

// Each adds a row. @throws ConfigError at what is wrong with it
void add_copy(const JsonRow& row, LinkRole role, Samples& samples);
void add_pattern(const JsonRow& row, Samples& samples);

}  // namespace gradway
