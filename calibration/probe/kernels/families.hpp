// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

/// The families of kernels. Each measures on the current GPU, emits its rows (calibration/SAMPLES.md) and
/// calls `done` with the part of itself that is done.
/// @throws Failure if a call fails or a result is wrong
namespace gradway::probe {

/// Matrix products through cublasLt, as PyTorch's linear layers ask for them.
void probe_products(Context& context);
/// Copies, additions, scalings and casts, as PyTorch's elementwise kernels do them.
void probe_memory(Context& context);
/// Optimizer steps over many tensors, as PyTorch's foreach and fused kernels do them.
void probe_optimizers(Context& context);
/// Scaled dot-product attention, forward, through cuDNN; a remark and no rows without it.
void probe_attention(Context& context);
/// What launches, synchronisations and events cost.
void probe_launches(Context& context);

}  // namespace gradway::probe
