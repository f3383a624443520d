// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// How operands of 8 bits are scaled: by one number a tensor or one a row, found in the tensor itself, or by
/// one that the steps before suggest.
enum class Fp8Recipe : std::uint8_t { tensorwise, rowwise, delayed };
inline constexpr std::array<std::string_view, 3> fp8_recipe_words{"tensorwise", "rowwise", "delayed"};
constexpr std::string_view name_of(Fp8Recipe recipe) {
  return fp8_recipe_words[static_cast<std::size_t>(recipe)];
}

/// How linear layers run in 8 bits.
struct Fp8 {
  Fp8Recipe recipe = Fp8Recipe::tensorwise;
  bool by_transformer_engine = false;  ///< its modules; else torchao's
  bool has_weights = false;            ///< weights come in fp8: a strategy gathers them so

  bool operator==(const Fp8&) const = default;
};

}  // namespace gradway
