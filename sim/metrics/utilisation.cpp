// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/utilisation.hpp"

#include <algorithm>
#include <array>

namespace gradway {
namespace {

/// FLOPs of both passes without parts of the forward pass that the backward pass recomputes.
Flops without_recomputation(Flops forward, Flops backward) {
  return forward + std::min(backward, 2 * forward);
}

/// FLOPs of a class of kernels per sample. Fused attention recomputes its scores, and a profile may have
/// checkpointed layers.
Flops of_profile(const Profile& profile, KernelClass kind) {
  Flops forward{};
  Flops backward{};
  for (const auto& launch : profile.launches) {
    if (launch.kind != kind) continue;
    if (launch.phase == ProfiledPhase::forward) forward += launch.flops;
    if (launch.phase == ProfiledPhase::backward) backward += launch.flops;
  }
  return without_recomputation(forward, backward) / profile.batch;
}

}  // namespace

Flops model_flops_per_sample(const Model& model) {
  Flops work{};
  for (const auto& layer : model.layers)
    work += without_recomputation(layer.forward.flops_per_sample, layer.backward.flops_per_sample);
  if (model.profile) {
    work += of_profile(*model.profile, KernelClass::matrix);
    work += of_profile(*model.profile, KernelClass::attention);
  }
  return work;
}

std::optional<FlopsPerSecond> peak_of(const Scenario& scenario) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto& peak = gpu.peak[static_cast<std::size_t>(scenario.job.precision)];
  if (gpu.ideal || !peak) return std::nullopt;
  return *peak * scenario.platform.speeds[HardwarePart::gpu];
}

std::optional<double> utilisation(FlopsPerSecond rate, const Scenario& scenario) {
  const auto peak = peak_of(scenario);
  if (!peak) return std::nullopt;
  return rate / *peak;
}

}  // namespace gradway
