// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Use of a resource from a date on, as fractions of its capacity.
struct UseChange {
  Seconds at{};
  double own = 0;     ///< by the job
  double others = 0;  ///< by a neighbour's traffic
};

/// Use of the given resources over a run: for each resource its changes in order of date. Before the first
/// and after the last change it is idle.
///
/// A timeline has the start and the end of each flow, but not its rates. They are recomputed: flows start and
/// end at the dates of the timeline and share as in the engines (max-min with weights, caps and contention).
/// So the curve is that of the engine, not an average over each flow: its integral over a flow's time is the
/// flow's amount, and apart from rounding no resource exceeds its capacity. An endless flow lasts from its
/// start to the end of the run.
///
/// Representative resources (see Folding) have the use of each resource that they stand for; the others have
/// none.
/// @pre the timeline is that of the graph; capacities of the resources are above zero and finite
std::vector<std::vector<UseChange>> link_use(const Platform& platform, const OpGraph& graph,
                                             const Timeline& timeline,
                                             const std::vector<ResourceId>& resources);

}  // namespace gradway
