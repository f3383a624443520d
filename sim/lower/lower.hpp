// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/folding.hpp"
#include "sim/lower/scene.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The ops of a job, and which actors they are for.
struct Lowered {
  OpGraph ops;
  Folding folding;
  std::vector<int> channels;                       ///< of NCCL, by program: of all communicators of a GPU
  std::optional<ChannelLimit> limit{};             ///< of the channels in the largest collective
  std::vector<CollectiveProvenance> provenance{};  ///< the collectives
};

/// Turns what actors do into what an engine knows, for all of them and all steps.
///
/// kernel: a flow of seconds over the GPU's own resource, at most one second a second, so that kernels on
/// several streams share the GPU. copy: a flow over host memory and PCIe, one at a time on the GPU's copy
/// engine of that direction. call: starts when the last member of the group is ready, waits for the call
/// before it on the same communicator, moves as the flows of its rings or trees. CPU: one delay a task, in
/// order; a task does not start before it is issued. Streams are chains of edges, and so are hand-overs; a
/// step waits for what was copied beside the one before (a prefetch is for use). Kernels and collectives on
/// one GPU slow each other as the calibration says for the job's precision.
/// @param scene of this workload, or of one that differs in its number of steps and the times of its kernels
/// @pre the workload was checked
Lowered lower(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
              const Scene& scene);

/// The same on a scene of its own.
inline Lowered lower(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
                     FoldRanks fold = FoldRanks::yes) {
  return lower(workload, scenario, communicators, scene_of(workload, scenario, communicators, fold));
}

}  // namespace gradway
