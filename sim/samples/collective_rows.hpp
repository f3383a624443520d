// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/samples/json_row.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Adds a row with an 'op': a collective alone, or all-reduces beside products or copies.
/// @throws ConfigError at what is wrong with it
void add_collective_row(const JsonRow& row, Samples& samples);

}  // namespace gradway
