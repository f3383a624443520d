// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "readers/chakra/chakra.hpp"
#include "sim/graph/workload.hpp"

namespace gradway::report {

/// The step of a rank as nodes of a Chakra execution trace, for other simulators: kernels become compute
/// nodes with their times, calls become collectives, sends and receives, copies become loads and stores. A
/// node depends (data_deps, the only kind that ASTRA-sim respects) on the dependencies of its task and on the
/// previous node of its stream. CPU launches and hand-overs of loaders have no node. Durations are whole
/// microseconds, rounded so that sums are exact to one microsecond; an attribute has the exact duration.
/// `comm_size` is the input of one rank, as in ASTRA-sim.
/// @pre `rank` is one of the workload's ranks
std::vector<ChakraNode> chakra_nodes(const Workload& workload, ActorId rank);

/// The communicators by the `pg_name` of their calls, as ASTRA-sim reads them: {"1": [0, 1, 2, 3]}.
void write_chakra_groups(std::ostream& out, const Workload& workload);

}  // namespace gradway::report
