// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Runs the graph with the fluid solver as a model inside SimGrid's engine, in this process: SimGrid's clock
/// moves, and whatever else SimGrid simulates can move beside it. Works once a process, like
/// `run_on_simgrid`.
/// @throws SimulationError if the graph cannot finish
Timeline run_fluid_on_simgrid(const Platform& platform, const OpGraph& graph);

}  // namespace gradway
