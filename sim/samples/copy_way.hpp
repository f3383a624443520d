// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/cost/measured_rates.hpp"

namespace gradway {

/// From where to where a copy goes: the number of a GPU, or empty for host memory.
struct CopyWay {
  std::optional<int> from;
  std::optional<int> to;

  /// The way of the same copy alone; host memory is pinned. @pre not from host memory to host memory
  LinkRole role() const;
};

/// The copies that a pattern's name stands for, from samples without `copies`: "h2d_x4", "d2h_x4" and
/// "h2d+d2h_x4" (each of 4 GPUs), "h2d_0+d2h_0" (these GPUs), "ring_x4" (each to the next),
/// "pairs_0>1_2>3", "bidir_0<>1". Empty if the name is not known.
std::vector<CopyWay> copies_of_pattern(std::string_view name);

}  // namespace gradway
