// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/base/provenance_fact.hpp"
#include "sim/base/warning.hpp"
#include "sim/compute/compute_costs.hpp"
#include "sim/cost/basis.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What kind of source each part of a step has.
struct StepBasis {
  Basis compute = Basis::given;  ///< and the optimizer
  double batch_ratio = 1;        ///< of the job's batch and its anchor's, the larger over the smaller
  double attention_ratio = 1;  ///< compute with the implementation of attention of another year over compute
  Basis launches = Basis::given;
  Basis communication = Basis::given;
  Basis contention = Basis::given;        ///< between kernels and collectives
  Transport transport = Transport::none;  ///< whose uncertainties count
  std::optional<double> adapted{};        ///< uncertainty of collectives that were adapted to this machine
  double making = 0;                      ///< as `uncertainty_of_making`
  double reading = 0;                     ///< as `uncertainty_of_reading`
};

/// What a prediction is based on, and how far that was measured.
struct Provenance {
  StepBasis step_basis;
  std::vector<ProvenanceFact> basis;
  std::vector<Warning> warnings;
};

/// @param collectives of all calls of the job
Provenance provenance_of(const Scenario& scenario, const ComputeCosts& costs,
                         const Communicators& communicators,
                         const std::vector<CollectiveProvenance>& collectives, const MemoryUse& memory);

/// Adds what kernels, launches and the optimizer are based on.
void add_compute_provenance(const Scenario& scenario, const ComputeCosts& costs, Provenance& provenance);

}  // namespace gradway
