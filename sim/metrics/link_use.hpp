// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// How much of a resource is in use from a date on, as fractions of its capacity.
struct UseChange {
  Seconds at{};
  double own = 0;     ///< by the job
  double others = 0;  ///< by a neighbour's traffic
};

/// How much of each of the given resources is in use over a run: by resource, its changes in order of date;
/// before the first one it is idle, as it is after the last.
///
/// A timeline tells when each flow started and ended, not how fast it went in between. The rates are found
/// anew: flows come and go at the dates of the timeline, and share as the engines let them (max-min with
/// weights, caps and what kernels and collectives cost each other). So the curve is that of the engine, not
/// an average over each flow: its integral over a flow's time is the flow's amount, and no resource is ever
/// in use beyond its capacity, but for rounding. An endless flow is under way from its start to the end of
/// the run.
///
/// Resources that stand for others (see Folding) show what each of these does; the others show nothing.
/// @pre the timeline is that of the graph; capacities of the resources are above zero and finite
std::vector<std::vector<UseChange>> link_use(const Platform& platform, const OpGraph& graph,
                                             const Timeline& timeline,
                                             const std::vector<ResourceId>& resources);

}  // namespace gradway
