// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/plan/sync.hpp"
#include "sim/scenario/layout.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Adds the ranks of a job to a workload, in order of rank, and their process groups.
class RankLayout {
 public:
  /// @param workload without actors; must outlive this, like the job
  RankLayout(Workload& workload, const Job& job, const Platform& platform);

  /// Adds groups of ranks of equal colour, among ranks that hold the same model shard or the same experts.
  void add(const Partition& partition);
  /// Adds groups of ranks that share the layers, tokens or experts of a stage.
  void add_inside(RankGroup group);
  /// Adds groups of all ranks of a stage, which share fp8 scales.
  void add_stages();
  /// Adds pairs of ranks of two pipeline stages, for each tensor rank and replica.
  void add_pairs(const std::string& name, int sender, int receiver);

 private:
  /// Adds `count` groups. @param colour number of a rank's group; negative if it is in none
  void join(const std::string& name, int count, const std::function<int(const RankPlace&)>& colour,
            Purpose purpose = Purpose::data);

  Workload& workload_;
  const Layout& layout_;
  const Job& job_;
  std::vector<RankPlace> places_;  ///< by rank
};

}  // namespace gradway
