// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// Activation checkpointing: what the backward pass recomputes.
enum class Recompute : std::uint8_t {
  none,
  selective,     ///< attention only; queries, keys and values are kept (Megatron's selective)
  selective_op,  ///< blocks except for attention and every second product (torchtitan's selective op)
  full           ///< whole blocks, of which only the inputs are kept
};
inline constexpr std::array<std::string_view, 4> recompute_words{"none", "selective", "selective_op", "full"};
constexpr std::string_view name_of(Recompute recompute) {
  return recompute_words[static_cast<std::size_t>(recompute)];
}

/// Whether blocks are recomputed before their backward pass.
constexpr bool runs_blocks_again(Recompute recompute) {
  return recompute == Recompute::full || recompute == Recompute::selective_op;
}

}  // namespace gradway
