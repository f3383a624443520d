// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace gradway {

/// sgd (without momentum), sgd_momentum and adamw: PyTorch's in their foreach form; adamw_fused: its
/// AdamW(fused=True). adamw_8bit: bitsandbytes' AdamW8bit; lion: Lion tensor by tensor, as its authors
/// published it; lamb: Apex' FusedLAMB; muon: torch.optim.Muon for the matrices of blocks, adamw for all
/// else.
enum class Optimizer { sgd, adamw, adamw_fused, sgd_momentum, adamw_8bit, lion, lamb, muon };

/// What files and reports call them.
inline constexpr std::array<std::string_view, 8> optimizer_words{
    "sgd", "adamw", "adamw_fused", "sgd_momentum", "adamw_8bit", "lion", "lamb", "muon"};
/// Those that calibration/torch/measure_kernels.py times.
inline constexpr std::array<std::string_view, 3> timed_optimizer_words{"sgd", "adamw", "adamw_fused"};
constexpr std::string_view name_of(Optimizer optimizer) {
  return optimizer_words[static_cast<std::size_t>(optimizer)];
}

}  // namespace gradway
