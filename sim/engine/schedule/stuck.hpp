// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/schedule/scheduler.hpp"
#include "sim/graph/op_graph.hpp"

namespace gradway {

/// Throws the SimulationError of a run that stopped before all ops had ended: how many are left, and a few of
/// them, each with what it waits for. Follows the first op that is left to what holds it up, so that those
/// named are a cycle or lead to the op that stands still.
/// @param holders by queue: the op it serves, or Op::absent
/// @pre some op has not ended
[[noreturn]] void throw_stuck(const OpGraph& graph, const std::vector<Progress>& progress,
                              const std::vector<std::uint32_t>& holders);

}  // namespace gradway
