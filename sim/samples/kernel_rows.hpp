// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/samples/json_row.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

// Each adds a row. @throws ConfigError at what is wrong with it
void add_product(const JsonRow& row, Samples& samples);
void add_memory(const JsonRow& row, Samples& samples);
void add_optimizer(const JsonRow& row, Samples& samples);
void add_attention(const JsonRow& row, Samples& samples);
void add_launch(const JsonRow& row, LaunchCost what, Samples& samples);

}  // namespace gradway
