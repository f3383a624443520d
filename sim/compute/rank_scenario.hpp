// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The scenario as a rank sees it, with the part of the model that it trains; what it names must outlive it.
struct RankScenario {
  const Model& model;
  const Platform& platform;
  const Job& job;
  const OperationCosts* kernel_costs;
  int replicas;  ///< ranks that train the same part

  // NOLINTNEXTLINE(google-explicit-constructor): most ranks train all of the model
  RankScenario(const Scenario& scenario) : RankScenario{scenario, scenario.model} {}
  RankScenario(const Scenario& scenario, const Model& part)
      : model{part},
        platform{scenario.platform},
        job{scenario.job},
        kernel_costs{scenario.kernel_costs.get()},
        replicas{job.replicas()} {}
  /// Of the part's parameters, those that so many ranks hold.
  RankScenario(const RankScenario& rank, const Model& parameters, int of_ranks)
      : model{parameters},
        platform{rank.platform},
        job{rank.job},
        kernel_costs{rank.kernel_costs},
        replicas{of_ranks} {}

  /// That train the same part.
  int data_parallel() const { return replicas; }
};

}  // namespace gradway
