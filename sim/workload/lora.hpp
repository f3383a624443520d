// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace gradway {

/// Fine-tuning with low-rank adapters: all parameters of the model are frozen in 16 bits, and a linear layer
/// W x becomes W x + s B A x with trained A and B. The rank is the number of rows of A and of columns of B.
/// @source Hu et al., arXiv 2106.09685; names and defaults of PEFT's LoraConfig
struct Lora {
  /// Linear layers in blocks that have adapters. The output layer has none.
  enum class Targets : std::uint8_t { query_value, attention, all_linear };
  int rank = 8;
  Targets targets = Targets::all_linear;
  /// QLoRA: weights of linear layers in blocks are stored as NF4 and dequantised to 16 bits before each
  /// product.
  bool quantised = false;
  bool drops_inputs = false;  ///< dropout before A
  bool double_quant = true;   ///< scales of NF4 are quantised, too
  bool keeps_inputs = false;  ///< 4-bit layers keep their inputs for the backward pass

  /// Bytes per weight in NF4: 4 bits and a 32-bit scale per 64 weights, or an 8-bit scale and a 32-bit scale
  /// per 256 of these scales.
  /// @source Dettmers et al., arXiv 2305.14314, section 3: 0.5 or 0.127 bits per parameter in addition to the
  /// 4 bits
  double nf4_bytes() const {
    return (4 + (double_quant ? 8 / nf4_block + 32 / (256 * nf4_block) : 32 / nf4_block)) / 8;
  }
  static constexpr double nf4_block = 64;
  auto operator<=>(const Lora&) const = default;
};
inline constexpr std::array<std::string_view, 3> lora_target_words{"query_value", "attention", "all_linear"};

}  // namespace gradway
