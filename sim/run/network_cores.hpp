// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/metrics/loading.hpp"
#include "sim/run/steady_state.hpp"

namespace gradway {

/// CPU time that TCP takes on a node in a step, for copies between sockets and the buffers of NCCL. Zero on
/// networks whose NICs reach these buffers or GPUs themselves, as RDMA does.
/// @source Cai, Chaudhary, Vuppalapati, Hwang, Agarwal, Understanding Host Network Stack Overheads, SIGCOMM
///         2021, section 3: with all optimisations of Linux a core receives 42 Gbit/s and sends 89 Gbit/s
Seconds network_core_time(const Platform& platform, const SteadyRun& run);

/// Leaves fewer cores to loaders by those that the network takes. If all are busy, both share them by their
/// work: a step then takes the core time of both.
/// @param loading of a run in which loaders had all cores
/// @return number of cores that the network takes
double share_cores_with_network(Platform& platform, const Loading& loading, Seconds step, Seconds network);

}  // namespace gradway
