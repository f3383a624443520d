// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace gradway {

/// sgd (without momentum), sgd_momentum and adamw: foreach implementations of PyTorch. adamw_fused: PyTorch's
/// AdamW(fused=True). adamw_8bit: bitsandbytes' AdamW8bit; paged_adamw_8bit: PagedAdamW8bit. lion: Lion as
/// published by its authors, tensor by tensor. lamb: Apex' FusedLAMB. muon: torch.optim.Muon for matrices in
/// blocks, adamw for other parameters. adafactor: that of Hugging Face's transformers, without a first
/// moment. adamw_loop: AdamW(foreach=False), tensor by tensor.
enum class Optimizer {
  sgd,
  adamw,
  adamw_fused,
  sgd_momentum,
  adamw_8bit,
  lion,
  lamb,
  muon,
  paged_adamw_8bit,
  adafactor,
  adamw_loop
};

/// Names in files and reports, in the order of the enum.
inline constexpr std::array<std::string_view, 11> optimizer_words{
    "sgd",  "adamw", "adamw_fused",      "sgd_momentum", "adamw_8bit", "lion",
    "lamb", "muon",  "paged_adamw_8bit", "adafactor",    "adamw_loop"};
/// Optimizers that calibration/torch/measure_kernels.py times.
inline constexpr std::array<std::string_view, 3> timed_optimizer_words{"sgd", "adamw", "adamw_fused"};
constexpr std::string_view name_of(Optimizer optimizer) {
  return optimizer_words[static_cast<std::size_t>(optimizer)];
}

}  // namespace gradway
