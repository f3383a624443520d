// SPDX-License-Identifier: Apache-2.0
// The profiles in models/, compared with known facts of the models and with their traces.
#include <catch2/catch.hpp>

#include "readers/kineto/kineto.hpp"
#include "sim/config/config.hpp"

using namespace gradway;

namespace {

Model shipped(const std::string& name) {
  return load_model(name, DataPath{{GRADWAY_SOURCE_DIR}});
}

Flops total(const Profile& profile, KernelClass kind) {
  Flops sum{};
  for (const auto& launch : profile.launches) {
    if (launch.kind == kind) sum += launch.flops;
  }
  return sum;
}

}  // namespace

TEST_CASE("the profile of vit_l_32 is that of its trace", "[import][shipped]") {
  const auto model = shipped("vit_l_32-h200");
  const auto& profile = *model.profile;

  CHECK(model.parameter_count() == 306'535'400);  // torchvision's own count
  CHECK(profile.gradients.size() == 296);
  CHECK(profile.gradients.front().shape == std::vector<std::int64_t>{1000});  // the classifier's bias
  CHECK(profile.launches.size() == 1684);
  CHECK(gpu_time(profile).value() == Approx(81.7e-3).epsilon(2e-3));
  CHECK(profile.precision == Precision::fp32);
  CHECK(profile.batch == 32);
  CHECK(profile.gap.value() == Approx(1.5e-6).epsilon(0.1));
  CHECK(cpu_time(profile) < 0.7 * gpu_time(profile));  // without waiting for the full queue
}

TEST_CASE("the profile of gpt_small is that of its trace", "[import][shipped]") {
  const auto model = shipped("gpt_small-h200");
  const auto& profile = *model.profile;

  CHECK(model.parameter_count() == 163'109'376);
  CHECK(profile.gradients.size() == 149);
  CHECK(profile.launches.size() == 910);
  CHECK(gpu_time(profile).value() == Approx(29.01e-3).epsilon(2e-3));
  CHECK(cpu_time(profile).value() == Approx(23.9e-3).epsilon(0.02));
  CHECK(profile.precision == Precision::bf16);
  CHECK(profile.optimizer == Optimizer::adamw);
  CHECK(profile.batch == 8);
}

TEST_CASE("a profile counts the operations that the architecture has", "[import][shipped]") {
  // The layers count a forward pass, attention included; the backward pass does twice as much, 2.5 times in
  // attention, and needs no gradient of the picture.
  const auto name = GENERATE("vit_l_32", "gpt_small");
  CAPTURE(name);
  const auto profile = *shipped(std::string{name} + "-h200").profile;
  const auto model = shipped(name);
  Flops forward{};
  for (const auto& layer : model.layers) forward += layer.forward.flops_per_sample * profile.batch;

  const auto attention = total(profile, KernelClass::attention) / 3.5;
  const auto products = total(profile, KernelClass::matrix) / 3;

  CHECK((attention + products) / forward == Approx(1).epsilon(0.005));
}
