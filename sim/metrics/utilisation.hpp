// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// FLOPs of a model's forward and backward pass: matrix products, convolutions and attention (if causal, the
/// half below the diagonal). Recomputation does not count, so a backward pass counts at most twice its
/// forward pass: fused attention recomputes its scores there.
/// @source Chowdhery et al., PaLM (arXiv:2204.02311), appendix B: "model FLOPs utilization"
Flops model_flops_per_sample(const Model& model);

/// Dense peak in the job's precision by the GPU's datasheet, times the speed of a what-if. Empty for an ideal
/// GPU, or one without a figure.
std::optional<FlopsPerSecond> peak_of(const Scenario& scenario);

/// MFU: a GPU's model FLOPs per second over `peak_of`. Empty without a peak.
std::optional<double> utilisation(FlopsPerSecond rate, const Scenario& scenario);

}  // namespace gradway
