// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

/// The families of kernels. Each measures on the current GPU, emits its rows (calibration/SAMPLES.md) and
/// reports its completed share with `done`.
/// @throws Failure if a call fails or a result is wrong
namespace gradway::probe {

/// Matrix products through cublasLt, as in PyTorch's linear layers.
void probe_products(Context& context);
/// Copies, additions, scalings and casts, as in PyTorch's elementwise kernels.
void probe_memory(Context& context);
/// Optimizer steps over many tensors, as in PyTorch's foreach and fused kernels.
void probe_optimizers(Context& context);
/// Scaled dot-product attention, forward, through cuDNN; a remark and no rows without it.
void probe_attention(Context& context);
/// A large product on all GPUs at the same time, for some seconds: clocks, temperatures, power.
void probe_load(Context& context);
/// Costs of launches, synchronisations and events.
void probe_launches(Context& context);

}  // namespace gradway::probe
