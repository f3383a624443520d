// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/graph/op_graph.hpp"

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

}  // namespace gradway
