// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// The scales of fp8 operands: one per tensor or one per row, computed from the tensor itself, or delayed:
/// one per tensor, from the history of earlier steps.
enum class Fp8Recipe : std::uint8_t { tensorwise, rowwise, delayed };
inline constexpr std::array<std::string_view, 3> fp8_recipe_words{"tensorwise", "rowwise", "delayed"};
constexpr std::string_view name_of(Fp8Recipe recipe) {
  return fp8_recipe_words[static_cast<std::size_t>(recipe)];
}

/// How linear layers run in fp8.
struct Fp8 {
  Fp8Recipe recipe = Fp8Recipe::tensorwise;
  bool by_transformer_engine = false;  ///< modules of Transformer Engine; else of torchao
  bool has_weights = false;            ///< weights are already fp8, since the strategy gathers them so

  bool operator==(const Fp8&) const = default;
};

}  // namespace gradway
