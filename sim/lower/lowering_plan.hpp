// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/folding.hpp"
#include "sim/lower/step_collectives.hpp"
#include "sim/platform/data_paths.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

enum class FoldRanks { yes, no };

/// Traffic of a neighbour on the platform.
struct TrafficFlow {
  std::vector<ResourceId> path;
  BytesPerSecond cap{};
  double weight = 1;
  Seconds start{};
  Seconds on{};      ///< zero: it never pauses
  Seconds period{};  ///< zero: it does not start again
};

/// The part of lowering that depends neither on the number of steps nor on the times of kernels: the paths of
/// copies, collectives and neighbours' traffic, and which actors stand for others.
struct LoweringPlan {
  Precision precision{};  ///< of the job's kernels
  /// By actor; empty if nothing is copied, there is no host memory, or its resources are all represented by
  /// others.
  std::vector<TransferPath> copy_in;
  std::vector<TransferPath> copy_out;                ///< by actor, likewise
  std::vector<std::vector<ResourceId>> reads;        ///< by actor: path from storage to its memory, or empty
  std::vector<std::vector<ResourceId>> cache_hits;   ///< by actor: path from its node's page cache, or empty
  std::vector<std::vector<ResourceId>> cold_reads;   ///< by actor: path from the tier that is staged from
  std::vector<std::vector<ResourceId>> reads_ahead;  ///< by actor: path from storage into its node's cache
  std::vector<std::vector<ResourceId>> cores;  ///< by actor: CPU cores that serve it; empty if unlimited
  std::vector<TrafficFlow> traffic;
  StepCollectives collectives;
  Folding folding;

  /// Whether actors load samples; else the tables of their paths from `reads` to `cores` are empty.
  bool has_loading() const { return !reads.empty(); }
};

/// @pre the workload was checked
LoweringPlan make_lowering_plan(const Workload& workload, const Scenario& scenario,
                                const Communicators& communicators, FoldRanks fold = FoldRanks::yes);

}  // namespace gradway
