// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/compute/rank_scenario.hpp"

namespace gradway {

/// GPU time of an optimizer's step on `share` of the parameters of a model.
Seconds optimizer_time(const RankScenario& scenario, Optimizer optimizer, double share);
/// GPU time of the scenario's optimizer on the rank with the largest share of parameters.
Seconds optimizer_time(const RankScenario& scenario);

/// Elements of the largest trained parameter.
double largest_parameter(const Model& model);

struct OptimizerMemory {
  Bytes state{};
  Bytes transient{};  ///< temporary memory during the step
};
/// @param stepped bytes of the parameters that a GPU updates, which are `share` of the model
OptimizerMemory optimizer_memory(const Model& model, Optimizer optimizer, Bytes stepped, double share);

}  // namespace gradway
