// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The scenario of one rank with its part of the model. Holds references, which must outlive it.
struct RankScenario {
  const Model& model;
  const Platform& platform;
  const Job& job;
  const OperationCosts* kernel_costs;
  int replicas;  ///< number of ranks that train the same part of the model (data parallelism)

  // NOLINTNEXTLINE(google-explicit-constructor): most ranks train the whole model
  RankScenario(const Scenario& scenario) : RankScenario{scenario, scenario.model} {}
  RankScenario(const Scenario& scenario, const Model& part)
      : model{part},
        platform{scenario.platform},
        job{scenario.job},
        kernel_costs{scenario.kernel_costs.get()},
        replicas{job.replicas()} {}
  /// The same rank with some of its parameters, of which `of_ranks` ranks hold a copy.
  RankScenario(const RankScenario& rank, const Model& parameters, int of_ranks)
      : model{parameters},
        platform{rank.platform},
        job{rank.job},
        kernel_costs{rank.kernel_costs},
        replicas{of_ranks} {}

  /// Number of ranks that train the same part of the model.
  int data_parallel() const { return replicas; }
};

}  // namespace gradway
