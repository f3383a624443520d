// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// Activation checkpointing: what a backward pass computes again instead of keeping it.
enum class Recompute : std::uint8_t {
  none,
  selective,     ///< attention alone, which keeps queries, keys and values: Megatron's selective
  selective_op,  ///< each block, but for attention and every second product, which it keeps: torchtitan's
  full           ///< each block, which keeps its input alone
};
inline constexpr std::array<std::string_view, 4> recompute_words{"none", "selective", "selective_op", "full"};
constexpr std::string_view name_of(Recompute recompute) {
  return recompute_words[static_cast<std::size_t>(recompute)];
}

/// Whether whole blocks run again before their backward pass.
constexpr bool runs_blocks_again(Recompute recompute) {
  return recompute == Recompute::full || recompute == Recompute::selective_op;
}

}  // namespace gradway
