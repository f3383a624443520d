// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What the mathematics of a model's forward and backward pass takes: matrix products, convolutions and
/// attention (the half of it below the diagonal where it is causal). Nothing that is computed anew counts, so
/// a backward pass counts at most twice its forward pass: fused attention computes its scores again there.
/// @source Chowdhery et al., PaLM (arXiv:2204.02311), appendix B: "model FLOPs utilization"
Flops model_flops_per_sample(const Model& model);

/// The peak of the job's precision, dense, as the GPU's datasheet has it (faster in a what-if). None of an
/// ideal GPU, or one without a figure.
std::optional<FlopsPerSecond> peak_of(const Scenario& scenario);

/// MFU: a GPU's model FLOPs a second over `peak_of`. None without a peak.
std::optional<double> utilisation(FlopsPerSecond rate, const Scenario& scenario);

}  // namespace gradway
