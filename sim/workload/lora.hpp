// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace gradway {

/// Fine-tuning with low-rank adapters: all parameters of the model are frozen in 16 bits, and beside a linear
/// layer y = W x stands a trained one, y + s B A x, of as many rows of A and columns of B as its rank.
/// @source Hu et al., arXiv 2106.09685; the words and the defaults of PEFT's LoraConfig
struct Lora {
  enum class Targets : std::uint8_t { attention, all_linear };  ///< of the blocks; the output layer has none
  int rank = 8;
  Targets targets = Targets::all_linear;
  /// QLoRA: weights of the blocks' linear layers lie in NF4, and are brought to 16 bits before each product.
  bool quantised = false;
  auto operator<=>(const Lora&) const = default;
};
inline constexpr std::array<std::string_view, 2> lora_target_words{"attention", "all_linear"};

/// QLoRA: 4 bits a weight, and for each 64 of them a scale of 8 bits, for each 256 of which one of 32.
/// @source Dettmers et al., arXiv 2305.14314, section 3: 0.127 bits a parameter beside the 4
inline constexpr double nf4_block = 64;
inline constexpr double nf4_bytes = (4 + 8 / nf4_block + 32 / (256 * nf4_block)) / 8;

}  // namespace gradway
