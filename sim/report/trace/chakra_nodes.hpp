// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/import/chakra/chakra.hpp"

namespace gradway::report {

/// What a rank does in a step as nodes of a Chakra execution trace, for other simulators: kernels as compute
/// nodes with their times, calls as collectives, sends and receives, copies as loads and stores of memory. A
/// node waits (data_deps, the only ones that ASTRA-sim heeds) for what its task waits for, and for the one
/// before it on its stream. What has no node there is left out: the CPU's launches, and hand-overs of
/// loaders. Durations are whole microseconds, rounded so that their sums are right to one; the exact ones
/// stand in an attribute. `comm_size` is what a rank puts in, as ASTRA-sim has it.
/// @pre `rank` is one of the workload's ranks
std::vector<ChakraNode> chakra_nodes(const Workload& workload, ActorId rank);

/// The communicators by the `pg_name` of their calls, as ASTRA-sim reads them: {"0": [0, 1, 2, 3]}.
void write_chakra_groups(std::ostream& out, const Workload& workload);

}  // namespace gradway::report
