// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/samples/json_row.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Adds one row to the samples. @throws ConfigError if it is no row of a probe
void add_sample_row(const JsonRow& row, Samples& samples);

/// Adds a row with an 'op': a collective alone, or all-reduces beside products or copies.
/// @throws ConfigError at what is wrong with it
void add_collective_row(const JsonRow& row, Samples& samples);

// Each adds a row. @throws ConfigError at what is wrong with it
void add_copy(const JsonRow& row, LinkRole role, Samples& samples);
void add_pattern(const JsonRow& row, Samples& samples);

// Each adds a row. @throws ConfigError at what is wrong with it
void add_product(const JsonRow& row, Samples& samples);
void add_memory(const JsonRow& row, Samples& samples);
void add_optimizer(const JsonRow& row, Samples& samples);
void add_attention(const JsonRow& row, Samples& samples);
void add_launch(const JsonRow& row, LaunchCost what, Samples& samples);

}  // namespace gradway
