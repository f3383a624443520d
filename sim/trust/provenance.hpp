// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/compute/compute_costs.hpp"
#include "sim/cost/basis.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What the parts of a step rest on.
struct StepBasis {
  Basis compute = Basis::given;  ///< and the optimizer
  double batch_ratio = 1;        ///< of the job's batch and its anchor's, the larger over the smaller
  Basis launches = Basis::given;
  Basis communication = Basis::given;
  Basis contention = Basis::given;        ///< what kernels and collectives cost each other
  Transport transport = Transport::none;  ///< whose uncertainties count
  std::optional<double> adapted{};  ///< uncertainty of collectives of such a machine, scaled to this one
  double making = 0;   ///< uncertainty of what samples take of a core, as `uncertainty_of_making`
  double reading = 0;  ///< uncertainty of storage, as `uncertainty_of_reading`
};

/// Why one should believe a prediction, and why one should not.
struct Provenance {
  StepBasis step_basis;
  std::vector<std::string> basis;
  std::vector<std::string> warnings;
  std::string extrapolation;  ///< The warning that communication is extrapolated. Empty if it was measured.
};

/// @param rests_on of all collectives that the job runs
Provenance provenance_of(const Scenario& scenario, const ComputeCosts& costs,
                         const Communicators& communicators,
                         const std::vector<CollectiveProvenance>& provenance, const MemoryUse& memory);

}  // namespace gradway
