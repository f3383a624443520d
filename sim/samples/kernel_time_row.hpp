// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/samples/json_row.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Adds a row of kind `kernel_time`: a kernel in the words of `timed_kinds`, its size and its time.
/// @throws ConfigError at what is wrong with it
void add_kernel_time(const JsonRow& row, Samples& samples);

}  // namespace gradway
