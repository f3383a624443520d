// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/workload/model.hpp"

namespace gradway {

/// The blocks of a model, such as the layers of a transformer. Frameworks wrap, recompute and split models by
/// block.
struct Blocks {
  static constexpr std::int32_t none = -1;  ///< a layer outside all blocks, which belongs to the root module

  int count = 0;
  std::vector<std::int32_t> of_layer;   ///< by layer of the model
  std::vector<std::int32_t> of_launch;  ///< profiles only, by launch; those of the optimizer have none
};

/// The name of a layer up to the last numbered component that is not its end: "h.3" for "h.3.mlp.fc1". Empty
/// if there is none.
std::string_view block_name(std::string_view layer);

/// The block of each layer by its name; `Blocks::none` if it is in none.
std::vector<std::int32_t> blocks_of_layers(const std::vector<Layer>& layers);

/// The blocks of a model by the names of its layers: h.3.mlp.fc1 belongs to block h.3, encoder_layer_7.ln_1
/// to encoder_layer_7. A profile has no names: its blocks are repetitions in the shapes of its gradients and
/// in the kernels of its forward pass. The backward pass of a block ends with its last gradient.
Blocks blocks_of(const Model& model);

}  // namespace gradway
