// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway {

/// PyTorch's optimizers: SGD without momentum, AdamW in its foreach form, AdamW(fused=True).
enum class Optimizer { sgd, adamw, adamw_fused };

}  // namespace gradway
