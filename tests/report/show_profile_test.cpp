// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <catch2/catch.hpp>

#include "sim/report/show/show.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

Profile small_profile() {
  using enum ProfiledPhase;
  using enum KernelClass;
  Profile profile;
  profile.gpu = "tester";
  profile.batch = 4;
  profile.steps = 3;
  profile.traced_step = 1.5_ms;
  profile.gap = 2_us;
  profile.gradients = {{{1000}, 4, 2}, {{1000, 2000}, 4, 2}};
  profile.buffers = {{{64}, 4}, {{}, 8}};
  profile.launches = {
      {.phase = forward, .kind = matrix, .cpu = 10_us, .gpu = 500_us, .flops = Flops{2e9}, .name = "mm"},
      {.phase = forward, .kind = matrix, .cpu = 10_us, .gpu = 250_us, .flops = Flops{1e9}, .name = "mm"},
      {.phase = backward, .kind = memory, .cpu = 30_us, .gpu = 250_us, .name = "add_"}};
  return profile;
}

std::string text_of(const Profile& profile) {
  Model model;
  model.name = "measured";
  model.source = "made up for tests";
  model.input_per_sample = Bytes{12};
  model.profile = std::make_shared<const Profile>(profile);
  std::ostringstream out;
  report::write_model(out, model, {});
  return out.str();
}

}  // namespace

TEST_CASE("a profile is shown with its totals by phase and class", "[report][show]") {
  const auto text = text_of(small_profile());

  CHECK_THAT(text, Contains("measured\n\n  source       made up for tests\n"));
  CHECK_THAT(text, Contains("input        12 B per sample\n"));
  CHECK_THAT(text, Contains("measured on  tester, fp32, batch 4, sgd\n"));
  CHECK_THAT(text, Contains("steps        3, 1.5 ms each under the profiler\n"));
  CHECK_THAT(text, Contains("gradients    2 tensors, 2,001,000 elements, 8.004 MB\n"));
  CHECK_THAT(text, Contains("buffers      2 tensors, 65 elements, 264 B\n"));
  CHECK_THAT(text, Contains("launches     3: 1 ms on the GPU, 50 us of the CPU, 2 us between kernels\n"));
  CHECK_THAT(text, Contains("phase     class   launches     GPU    CPU  operations\n"
                            "forward   matrix         2  750 us  20 us     3 GFLOP\n"
                            "backward  memory         1  250 us  30 us           -\n"
                            "all                      3    1 ms  50 us     3 GFLOP\n"));
}

TEST_CASE("a profile says whether the CPU or the GPU limits the step", "[report][show]") {
  auto profile = small_profile();
  CHECK_THAT(text_of(profile), Contains("step time    not measured without the profiler\n"));
  CHECK_THAT(text_of(profile),
             Contains("limited by   the GPU: the CPU issues the step in 5.0 % of the GPU's time"));

  profile.launches[0].cpu = 2_ms;
  CHECK_THAT(text_of(profile), Contains("but\n               the profiler may be the cause\n"));
  profile.step_time = 1.25_ms;
  CHECK_THAT(text_of(profile), Contains("step time    1.25 ms without the profiler\n"));
  CHECK_THAT(text_of(profile),
             Contains("limited by   the CPU: issuing the step takes 204.0 % of the GPU's time\n"));
}

TEST_CASE("a profile names the source of its memory", "[report][show]") {
  auto profile = small_profile();
  CHECK_THAT(text_of(profile), Contains("memory       activations are unknown\n"));
  profile.memory_from = MemorySource::recorded;
  profile.memory = {{.grows = 2_GB, .fixed = 1_GB}, {.grows = 1_GB}};
  CHECK_THAT(text_of(profile), Contains("memory       activations of 3 GB as recorded\n"));
  profile.memory_from = MemorySource::shapes;
  profile.memory_lacks = {"mine::op"};
  CHECK_THAT(text_of(profile),
             Contains("memory       activations of 3 GB from shapes, without those of mine::op\n"));
}
