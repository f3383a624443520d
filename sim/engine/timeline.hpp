// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Start and end of each op. Dates count from the start of the run; an op starts when its queue admits it.
struct Timeline {
  std::vector<Seconds> start;
  std::vector<Seconds> end;

  Seconds makespan() const;
  Seconds duration(OpId op) const { return end[op.index()] - start[op.index()]; }
};

/// Throws ContractViolation if an op starts before its predecessors have ended, if a queue serves two ops at
/// once, or if an op is shorter than its latency. Linear in the size of the graph. Runs after each
/// simulation.
void check(const Timeline& timeline, const OpGraph& graph);

/// Throws ContractViolation if starts, ends and amounts prove that capacities were exceeded:
/// * a flow is faster than its cap, the narrowest resource of its path and contention (see Contender) allow;
/// * a resource carries more than its capacity between the start and end of a flow, or during a period of
///   uninterrupted use. All flows that lie within that time count.
/// Unfair sharing within all capacities is not detected. Takes O(n log n) for a resource with n flows;
/// resources that are used by the same paths are checked once. Runs after each simulation.
void check_amounts(const Timeline& timeline, const OpGraph& graph, const Platform& platform);

}  // namespace gradway
