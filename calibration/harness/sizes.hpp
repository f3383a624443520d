// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace gradway::probe {

/// Returns smallest, smallest * factor, ... and largest, which is included even if it is not such a power.
/// @pre 0 < smallest <= largest, factor > 1
std::vector<std::size_t> powers(std::size_t smallest, std::size_t largest, std::size_t factor);

/// Numbers of ranks to measure: 2, 3, 4, 6, 8, 12, ... below all, and all. Empty for one GPU.
std::vector<int> rank_counts(int all);

}  // namespace gradway::probe
