// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/folding.hpp"
#include "sim/lower/lowering_plan.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The op graph of a job and what is known about it.
struct Lowered {
  OpGraph ops;
  Folding folding;
  std::vector<Bytes> nccl;              ///< by program: what NCCL takes of the memory of one of its GPUs
  std::optional<ChannelLimit> limit{};  ///< what limits the number of channels of the largest collective
  std::vector<CollectiveProvenance> provenance{};  ///< of the collectives
};

/// Translates the tasks of all simulated actors and all steps into ops:
/// * kernel: a flow in seconds of work over the GPU's own resource, of at most one second a second, so that
///   kernels on several streams share the GPU;
/// * copy: a flow over host memory and PCIe; the GPU's copy engine of that direction serves one at a time;
/// * call: starts when the last member of the group is ready, waits for the call before it on the same
///   communicator, and moves as the flows of its rings or trees;
/// * launch: one delay a task, in order; a task does not start before it is launched.
/// Streams and channels become chains of edges. A step waits for what was prefetched during the step before.
/// Kernels and collectives on one GPU slow each other by the contention that was measured for the job's
/// precision.
/// @param plan of this workload, or of one with another number of steps or other times of kernels
/// @pre the workload was checked
Lowered lower(const Workload& workload, const Platform& platform, const Communicators& communicators,
              const LoweringPlan& plan);

/// Makes the plan, too.
inline Lowered lower(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
                     FoldRanks fold = FoldRanks::yes) {
  return lower(workload, scenario.platform, communicators,
               make_lowering_plan(workload, scenario, communicators, fold));
}

}  // namespace gradway
