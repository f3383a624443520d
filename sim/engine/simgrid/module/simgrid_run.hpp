// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Runs the graph on SimGrid's own max-min network model (CM02), in this process. SimGrid keeps global state
/// that cannot be cleared and ends the process when it finds a fault, so this works once a process: call it
/// in a child.
/// @throws SimulationError if the graph cannot finish
Timeline run_on_simgrid(const Platform& platform, const OpGraph& graph);

}  // namespace gradway
