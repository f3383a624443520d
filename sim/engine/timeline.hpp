// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// When each op started (its queue let it in) and ended. Dates count from the start of the run.
struct Timeline {
  std::vector<Seconds> start;
  std::vector<Seconds> end;

  Seconds makespan() const;
  Seconds duration(OpId op) const { return end[op.index()] - start[op.index()]; }
};

/// Throws ContractViolation if a timeline breaks a law of the graph: an op that starts before what it waits
/// for has ended, two ops at once in one queue, an op shorter than its latency. Linear in the graph; always
/// on.
void check(const Timeline& timeline, const OpGraph& graph);

/// Throws ContractViolation if more was moved than can be, as far as starts, ends and amounts prove it:
/// * a flow that moved faster than its cap and the narrowest part of its path allow, with what its neighbours
///   (see Contender) cost it while they were in flow;
/// * a resource that, between the begin and the end of some flow, or while it was in use without a break,
///   carried more than its capacity: all flows counted that lie within.
/// An engine that shares unfairly but within all capacities passes. Takes n log n for a resource with n
/// flows; resources that the same paths use are looked at once. Always on.
void check_amounts(const Timeline& timeline, const OpGraph& graph, const Platform& platform);

}  // namespace gradway
