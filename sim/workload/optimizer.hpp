// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace gradway {

/// PyTorch's optimizers: SGD without momentum, AdamW in its foreach form, AdamW(fused=True).
enum class Optimizer { sgd, adamw, adamw_fused };

/// What files and reports call them.
inline constexpr std::array<std::string_view, 3> optimizer_words{"sgd", "adamw", "adamw_fused"};
constexpr std::string_view name_of(Optimizer optimizer) {
  return optimizer_words[static_cast<std::size_t>(optimizer)];
}

}  // namespace gradway
