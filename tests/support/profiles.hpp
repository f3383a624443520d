// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/builders.hpp"

/// Small profiles with round numbers.
namespace gradway::test {

inline Launch kernel_launch(ProfiledPhase phase, Seconds cpu, Seconds gpu,
                            KernelClass kind = KernelClass::memory) {
  Launch launch;
  launch.phase = phase;
  launch.kind = kind;
  launch.cpu = cpu;
  launch.gpu = gpu;
  launch.grows = phase != ProfiledPhase::optimizer;
  launch.name = "kernel";
  return launch;
}

/// `layers` forward kernels, as many backward kernels with a gradient of a million elements after each, and
/// one of the optimizer, all with the same times.
inline Profile even_profile(int layers, Seconds cpu, Seconds gpu, Seconds gap = Seconds{}) {
  Profile profile;
  profile.gpu = "round";
  profile.batch = 8;
  profile.steps = 2;
  profile.gap = gap;
  for (int i = 0; i < layers; ++i)
    profile.launches.push_back(kernel_launch(ProfiledPhase::forward, cpu, gpu));
  for (int i = 0; i < layers; ++i) {
    profile.launches.push_back(kernel_launch(ProfiledPhase::backward, cpu, gpu));
    profile.gradients.push_back({{1000, 1000}, 4, profile.launches.size()});
  }
  profile.launches.push_back(kernel_launch(ProfiledPhase::optimizer, cpu, gpu));
  return profile;
}

/// The model of a profile as read from a file: a layer for each gradient, the last one to become ready first.
inline Model model_of(const Profile& profile) {
  Model model;
  model.name = "profiled";
  for (auto i = profile.gradients.size(); i-- > 0;) {
    Layer layer;
    layer.name = "gradient";
    layer.parameters = {{"weight", profile.gradients[i].shape}};
    layer.forward.kernels = layer.backward.kernels = 0;
    model.layers.push_back(layer);
  }
  model.profile = std::make_shared<const Profile>(profile);
  return model;
}

/// One GPU of an NVSwitch node without DDP.
inline Scenario profiled_scenario(const Profile& profile) {
  Scenario scenario;
  scenario.name = "test";
  scenario.platform = built_platform(nvswitch_node(4));
  scenario.model = model_of(profile);
  scenario.job.gpus = 1;
  scenario.job.batch_per_gpu = profile.batch;
  scenario.job.precision = profile.precision;
  scenario.job.optimizer = profile.optimizer;
  scenario.job.strategy = NoExchange{};
  return scenario;
}

}  // namespace gradway::test
