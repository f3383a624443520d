// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// The scales of operands: one per tensor or one per row, computed from the tensor itself; delayed: one per
/// tensor, from the history of earlier steps; blockwise: one per 128 numbers, of weights per 128 x 128;
/// mxfp8: one per 32 numbers. nvfp4 is a format of its own with one scale per 16 numbers (`job.precision`).
enum class Fp8Recipe : std::uint8_t { tensorwise, rowwise, delayed, blockwise, mxfp8, nvfp4 };
/// Those of `job.fp8_recipe`.
inline constexpr std::array<std::string_view, 5> fp8_recipe_words{"tensorwise", "rowwise", "delayed",
                                                                  "blockwise", "mxfp8"};
constexpr std::string_view name_of(Fp8Recipe recipe) {
  return recipe == Fp8Recipe::nvfp4 ? "nvfp4" : fp8_recipe_words[static_cast<std::size_t>(recipe)];
}
/// Whether a matrix and its transpose have different scales, so that both are made of the original tensor.
constexpr bool has_block_scales(Fp8Recipe recipe) {
  return recipe == Fp8Recipe::blockwise || recipe == Fp8Recipe::mxfp8 || recipe == Fp8Recipe::nvfp4;
}

/// How linear layers run in fp8 or nvfp4.
struct Fp8 {
  Fp8Recipe recipe = Fp8Recipe::tensorwise;
  bool by_transformer_engine = false;  ///< modules of Transformer Engine; else of torchao
  bool has_weights = false;            ///< weights are already fp8, since the strategy gathers them so
  bool attention = false;              ///< attention runs in fp8, too

  bool operator==(const Fp8&) const = default;
};

}  // namespace gradway
