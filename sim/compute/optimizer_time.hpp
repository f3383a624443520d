// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/compute/rank_scenario.hpp"

namespace gradway {

/// GPU time of a step of the optimizer on `share` of the parameters of a model.
Seconds optimizer_time(const RankScenario& scenario, Optimizer optimizer, double share);
/// The scenario's own, on what its strategy leaves to a rank.
Seconds optimizer_time(const RankScenario& scenario);

struct OptimizerMemory {
  Bytes state{};
  Bytes transient{};  ///< there during its step alone
};
/// @param stepped bytes of the parameters that a GPU steps, `share` of all of the model
OptimizerMemory optimizer_memory(const Model& model, Optimizer optimizer, Bytes stepped, double share);

}  // namespace gradway
