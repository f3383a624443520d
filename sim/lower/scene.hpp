// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/folding.hpp"
#include "sim/lower/meetings.hpp"
#include "sim/platform/data_paths.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

enum class FoldRanks { yes, no };

/// What of a lowered workload depends neither on the number of its steps nor on how long its kernels take:
/// where copies, collectives and neighbours' traffic go, and who stands for whom.
struct Scene {
  std::vector<TransferPath> in;   ///< by actor; empty where nothing is copied or there is no host memory
  std::vector<TransferPath> out;  ///< by actor
  std::vector<std::vector<ResourceId>> reads;  ///< by actor: from storage to its memory; empty: none
  std::vector<std::vector<ResourceId>> hits;   ///< by actor: from its node's cache, the same
  std::vector<std::vector<ResourceId>> cores;  ///< by actor: that work for it; empty: none, or not known
  std::vector<TransferPath> traffic;           ///< beside the job's
  Meetings meetings;
  Folding folding;
};

/// @pre the workload was checked
Scene scene_of(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
               FoldRanks fold = FoldRanks::yes);

}  // namespace gradway
