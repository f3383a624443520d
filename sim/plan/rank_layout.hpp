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

/// Adds the ranks of a job to a workload, in the order of their numbers, and the groups in which they meet.
class RankLayout {
 public:
  /// @param workload has no actors yet, and outlives this, as the scenario does
  RankLayout(Workload& workload, const Scenario& scenario);

  /// Ranks of equal colour, among those that hold the same part of the model, or the same experts.
  void add(const Partition& partition);
  /// Ranks that share layers, tokens or experts of a stage.
  void add_inside(RankGroup group);
  /// All ranks of a stage, which share scales of fp8.
  void add_stages();
  /// Two stages of a pipeline, tensor rank by tensor rank and replica by replica.
  void add_pairs(const std::string& name, int from, int to);

 private:
  /// Adds `count` groups. @param colour of a rank: the number of its group; below zero: it is in none
  void join(const std::string& name, int count, const std::function<int(const RankPlace&)>& colour,
            Purpose purpose = Purpose::data);

  Workload& workload_;
  const Layout& layout_;
  const Job& job_;
  std::vector<RankPlace> places_;  ///< by rank
};

}  // namespace gradway
