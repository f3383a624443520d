// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/fit/samples.hpp"

namespace gradway {

/// One table for each transport, operation, forced or free algorithm and protocol, and number of ranks:
/// outliers sifted out, the rest made monotone, and what that is worth: how far the samples are from the
/// table, and how far each inner sample is from what a table without it says.
std::vector<CollectiveTable> fit_collectives(const std::vector<CollectiveRow>& rows);

}  // namespace gradway
