// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <tuple>
#include <utility>

#include "sim/compute/compute_costs.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/search/search.hpp"

namespace gradway {

/// Identifies layouts that differ in the micro-batch only.
inline auto cut_of(const Job& job) {
  const auto& layout = job.layout;
  return std::tuple{layout.tensor,   layout.sequence, layout.context, layout.expert, layout.pipeline,
                    layout.schedule, layout.chunks,   job.recompute,  job.strategy};
}

/// Ranks that share layers, tokens and experts, and recomputation. Layouts of a kind have the same kernels.
using LayoutKind = std::tuple<int, int, int, Recompute>;
inline LayoutKind kind_of(const Job& job) {
  return {job.layout.tensor, job.layout.context, job.layout.expert, job.recompute};
}

/// Enough micro-batches to fill the pipeline. More of them need no more memory and take the same time each.
int enough_micro_batches(const Job& job);

/// Estimates memory and lower bounds of the step time of candidates of one kind without simulating them.
class RequirementEstimator {
 public:
  explicit RequirementEstimator(const Scenario& written) : scenario_{written} {}

  /// A lower bound of the step time that needs no plan of the step: the kernels of equal stages and the
  /// passes of a micro-batch through those before, or the CPU's launches. Stages that differ take longer. Not
  /// thread-safe.
  Seconds least_time_of(const Job& job);
  /// Thread-safe. @pre `least_time_of` was asked for this job
  Requirements estimate(const Job& job) const;

 private:
  struct Passes {
    ComputeCosts at_full_clocks;
    double slowdown = 1;  ///< on a GPU that never waits
    Seconds launches{};   ///< CPU time of a micro-batch's passes through all stages
  };

  using Key = std::pair<std::size_t, int>;  ///< strategy and batch
  static Key key_of(const Job& job) { return {job.strategy.index(), job.batch_per_gpu}; }

  const Passes& passes_of(const Job& job);

  Scenario scenario_;
  std::map<Key, Passes> costs_;
};

/// @throws ConfigError if the scenario's job cannot be distributed, or its framework's layouts are not
/// searched
void check_can_be_cut(const Scenario& written);

}  // namespace gradway
