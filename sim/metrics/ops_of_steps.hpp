// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "sim/graph/op_graph.hpp"

namespace gradway {

/// Index of the first op of a step or of a later one; the number of ops if there is none. Ops of no step come
/// before those of step 0. @pre the graph has its ops step by step, as `lower` adds them
inline std::size_t first_op_of(int step, const OpGraph& ops) {
  const auto first = std::ranges::partition_point(
      ops.ops(), [step](std::int32_t op_step) { return op_step < step; },
      [](const Op& op) { return op.origin.step; });
  return static_cast<std::size_t>(first - ops.ops().begin());
}

}  // namespace gradway
