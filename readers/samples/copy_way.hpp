// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/cost/measured_rates.hpp"

namespace gradway {

/// Source and destination of a copy: the number of a GPU, or empty for host memory.
struct CopyWay {
  std::optional<int> from;
  std::optional<int> to;

  /// Link of the copy; host memory is pinned. @pre not from host memory to host memory
  LinkRole role() const;
};

/// The copies of a named pattern, for samples without `copies`: "h2d_x4", "d2h_x4" and "h2d+d2h_x4" (each of
/// 4 GPUs), "h2d_0+d2h_0" (these GPUs), "ring_x4" (each to the next), "pairs_0>1_2>3", "bidir_0<>1". Empty if
/// the name is unknown.
std::vector<CopyWay> copies_of_pattern(std::string_view name);

}  // namespace gradway
