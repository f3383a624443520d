// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/workload/model.hpp"

namespace gradway {

/// The blocks of a model: the part that it repeats, as transformers do. Frameworks wrap, recompute and cut
/// models block by block.
struct Blocks {
  static constexpr std::int32_t none = -1;  ///< before, between or behind blocks: the root's own

  int count = 0;
  std::vector<std::int32_t> of_layer;   ///< by layer of the model
  std::vector<std::int32_t> of_launch;  ///< of a profile, by launch; the optimizer's have none
};

/// "h.3" of "h.3.mlp.fc1": up to the last component that counts and has something behind it; empty: none.
std::string_view block_name(std::string_view layer);

/// Which block each layer belongs to, by its name; none: `Blocks::none`.
std::vector<std::int32_t> blocks_of_layers(const std::vector<Layer>& layers);

/// By the names of layers: h.3.mlp.fc1 is of block h.3, encoder_layer_7.ln_1 of encoder_layer_7. A profile
/// has no names: its blocks are what repeats, in the shapes of its gradients and in the kernels of its
/// forward pass; a block's backward pass ends with its last gradient.
Blocks blocks_of(const Model& model);

}  // namespace gradway
