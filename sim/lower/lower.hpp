// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload_graph.hpp"
#include "sim/lower/collectives.hpp"
#include "sim/lower/folding.hpp"
#include "sim/plan/scenario.hpp"

namespace gradway {

enum class FoldRanks { yes, no };

/// The ops of a job, and which ranks they are for.
struct Lowered {
  OpGraph ops;
  Folding folding;
  int channels = 0;                            ///< of NCCL; 0 if it has none to run
  std::optional<ChannelLimit> limit{};         ///< of the channels in the largest collective
  std::vector<CollectiveEvidence> rests_on{};  ///< the collectives
};

/// Turns what the framework issues into what an engine knows, for all ranks and steps.
///
/// kernel: a flow of seconds over the GPU's own resource, at most one second a second, so that kernels on
/// several streams share the GPU. copy: a flow over host memory and PCIe, one at a time on the GPU's copy
/// engine. collective: starts when the last rank is ready, holds the communicator of all ranks, moves as the
/// flows of its rings or trees. CPU: one delay a task, in order; a task does not start before it is issued.
/// Streams are chains of edges; a step waits for what was copied beside the one before (a prefetch is for
/// use). Kernels and collectives on one GPU slow each other as the calibration says for the job's precision.
Lowered lower(const WorkloadGraph& workload, const Scenario& scenario, const CollectiveLowering& collectives,
              FoldRanks fold = FoldRanks::yes);

}  // namespace gradway
