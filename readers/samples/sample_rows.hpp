// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "readers/samples/json_row.hpp"
#include "readers/samples/samples.hpp"

namespace gradway {

/// Adds one row to the samples. @throws ConfigError if it is invalid
void add_sample_row(const JsonRow& row, Samples& samples);

/// Adds a row with an 'op': a collective alone, or all-reduces concurrent with products or copies.
/// @throws ConfigError if it is invalid
void add_collective_row(const JsonRow& row, Samples& samples);

// Each adds a row. @throws ConfigError at what is wrong with it
void add_copy(const JsonRow& row, LinkRole role, Samples& samples);
void add_pattern(const JsonRow& row, Samples& samples);

// Each adds a row. @throws ConfigError at what is wrong with it
void add_product(const JsonRow& row, Samples& samples);
void add_memory(const JsonRow& row, Samples& samples);
void add_optimizer(const JsonRow& row, Samples& samples);
void add_attention(const JsonRow& row, Samples& samples);
void add_load(const JsonRow& row, Samples& samples);
void add_host_memory(const JsonRow& row, Samples& samples);
void add_disk(const JsonRow& row, Samples& samples);
void add_launch(const JsonRow& row, LaunchCost kind, Samples& samples);

/// Adds a row of kind `kernel_time`: a kernel in the words of `timed_kinds`, its size and its time.
/// @throws ConfigError if it is invalid
void add_kernel_time(const JsonRow& row, Samples& samples);

}  // namespace gradway
