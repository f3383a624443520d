// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/eager/eager_settings.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/step_memory.hpp"

namespace gradway {

/// Handle of a tensor of the forward pass.
struct Tensor {
  std::int32_t id = -1;
};

/// The operations and the memory of a model's step on one rank.
struct EagerStep {
  std::vector<LayerOperations> layers;  ///< parallel to the model's layers
  std::vector<Layer> of_rank;           ///< the rank's share of the model's layers
  StepMemory memory;
};
/// @pre the model has a forward pass
EagerStep eager_step(const Model& model, const EagerSettings& settings);

}  // namespace gradway
