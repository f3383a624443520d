// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/compute/profile_costs.hpp"
#include "sim/cost/framework_cost.hpp"
#include "tests/support/profiles.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

std::vector<ReplayedLaunch> launches(int count, Seconds cpu, Seconds gpu) {
  return {static_cast<std::size_t>(count), ReplayedLaunch{cpu, gpu, false}};
}

double us(Seconds time) {
  return time.value() * 1e6;
}

}  // namespace

TEST_CASE("a GPU-bound step takes the time of its kernels and the gaps before them") {
  CHECK(us(replay(launches(100, 2_us, 10_us), 1, 1_us)) == Approx(1100));
  CHECK(us(replay(launches(100, 2_us, 10_us), 0, 0_us)) == Approx(1000));
}

TEST_CASE("a launch-bound step takes the time of its launches") {
  CHECK(us(replay(launches(100, 10_us, 2_us), 1, 1_us)) == Approx(1000));
  CHECK(us(replay(launches(100, 10_us, 2_us), 0.5, 1_us)) == Approx(500));
}

TEST_CASE("the CPU's lead hides slow launches, but not after a synchronisation") {
  // 50 long kernels, then 50 kernels that take the CPU longer than the GPU.
  auto step = launches(50, 1_us, 20_us);
  for (const auto& launch : launches(50, 10_us, 2_us)) step.push_back(launch);
  CHECK(us(replay(step, 1, 0_us)) == Approx(50 * 20 + 50 * 2));
  step[49].host_waits = true;
  // After the synchronisation, the GPU waits for each slow launch; the last kernel ends the step, and the
  // next step starts without a lead of the CPU.
  CHECK(us(replay(step, 1, 0_us)) == Approx(50 * 20 + 50 * 10).epsilon(0.01));
}

TEST_CASE("the CPU is ahead by at most the depth of the launch queue") {
  // The GPU starts with one long kernel. With an unlimited queue, the CPU would issue all others during it.
  auto step = launches(2 * launch_queue_depth, 10_us, 1_us);
  step.front().gpu = 100000_us;
  const double behind = 10.0 * (2 * launch_queue_depth - launch_queue_depth);
  CHECK(us(replay(step, 1, 0_us)) == Approx(100000 + behind).epsilon(0.02));
}

TEST_CASE("a small difference between kernels and step is not attributed to a slow CPU") {
  // 101 kernels of 10 us and gaps of at most 1.3 times 0.5 us take 1,076 us; the CPU needs 128 or 513 us, and
  // the first kernel waits for it.
  for (const auto launch : {2_us, 8_us}) {
    auto profile = even_profile(50, launch, 10_us, 0.5_us);
    profile.step_time = 1100_us;
    const auto costs = profile_costs(profiled_scenario(profile));
    CHECK(costs.cpu_scale == profiled_cpu_share);
    CHECK_FALSE(costs.launch_bound);
    CHECK(us(costs.step) == Approx(1100).epsilon(1e-6));
    // A large difference means that the step is launch-bound.
    profile.step_time = 1300_us;
    CHECK(profile_costs(profiled_scenario(profile)).launch_bound);
  }
}

TEST_CASE("the measured step of a GPU-bound model determines the gaps between kernels") {
  auto profile = even_profile(50, 2_us, 10_us, 2_us);
  profile.step_time = 101 * 11_us;
  const auto costs = profile_costs(profiled_scenario(profile));
  CHECK(us(costs.pause) == Approx(1).epsilon(1e-6));
  CHECK(us(costs.step) == Approx(us(*profile.step_time)).epsilon(1e-6));
  CHECK(costs.cpu_scale == profiled_cpu_share);
  CHECK_FALSE(costs.launch_bound);
}

TEST_CASE("the measured step of a launch-bound model determines the CPU's speed") {
  auto profile = even_profile(50, 20_us, 2_us, 1_us);
  profile.step_time = 101 * 14_us;
  const auto costs = profile_costs(profiled_scenario(profile));
  CHECK(costs.cpu_scale == Approx(0.7).epsilon(1e-6));
  CHECK(us(costs.pause) == Approx(profiled_pause_share));
  CHECK(us(costs.step) == Approx(us(*profile.step_time)).epsilon(1e-6));
  CHECK(costs.launch_bound);
}

TEST_CASE("a known profiler overhead is not determined again") {
  auto profile = even_profile(50, 2_us, 10_us, 2_us);
  profile.unprofiled = Unprofiled{.cpu_scale = 0.5, .pause = 3_us, .step = 700_us};
  const auto costs = profile_costs(profiled_scenario(profile));
  CHECK(costs.cpu_scale == 0.5);
  CHECK(costs.pause == 3_us);
  CHECK(costs.step == 700_us);
  CHECK(costs.gpu.size() == profile.launches.size());
}

TEST_CASE("without a measured step, the usual profiler overhead is removed") {
  const auto costs = profile_costs(profiled_scenario(even_profile(50, 20_us, 2_us, 1_us)));
  CHECK(costs.cpu_scale == profiled_cpu_share);
  CHECK(us(costs.step) == Approx(101 * 20 * profiled_cpu_share));
  CHECK(costs.launch_bound);
}

TEST_CASE("kernel times are proportional to the batch, those of products grow less") {
  auto profile = even_profile(1, 1_us, 100.9_us);
  profile.launches[0].kind = KernelClass::matrix;
  profile.launches[0].flops = Flops{5e9};  // 50 us at 100 TFLOP/s
  auto scenario = profiled_scenario(profile);
  scenario.job.batch_per_gpu = 16;
  auto costs = profile_costs(scenario);
  CHECK(us(costs.gpu[0]) == Approx(100.9 + 75));
  CHECK(us(costs.gpu[1]) == Approx(100.9 + 100));
  CHECK(us(costs.gpu[2]) == Approx(100.9));  // the optimizer's kernel does not grow
  scenario.job.batch_per_gpu = 4;
  costs = profile_costs(scenario);
  CHECK(us(costs.gpu[0]) == Approx(100.9 - 37.5));
  CHECK(us(costs.gpu[1]) == Approx(100.9 - 50));
}

TEST_CASE("kernels are extrapolated to another GPU by rooflines, and by its arithmetic beyond them") {
  auto profile = even_profile(1, 1_us, 100.9_us);
  profile.gpu = "other";
  profile.launches[0].kind = KernelClass::matrix;
  profile.launches[0].flops = Flops{6e9};  // 60 of 100 us at 100 TFLOP/s
  profile.launches[0].bytes = 1_MB;
  profile.launches[1].bytes = 80_MB;  // 80 of 100 us at 1 TB/s
  auto scenario = profiled_scenario(profile);
  scenario.profiled_gpu = round_gpu();
  scenario.profiled_gpu->name = "other";
  scenario.platform.gpu_models.front().peak.fill(FlopsPerSecond{50e12});
  scenario.platform.gpu_models.front().memory_bandwidth = 4000_GBps;
  const auto costs = profile_costs(scenario);
  CHECK(costs.extrapolation == Extrapolation::roofline);
  CHECK(us(costs.gpu[0]) == Approx(0.9 + 2 * 60 + 2 * 40));
  CHECK(us(costs.gpu[1]) == Approx(0.9 + 80.0 / 4 + 2 * 20));
  CHECK(us(costs.gpu[2]) == Approx(0.9 + 2 * 100));
}

TEST_CASE("an anchor on the platform's GPU takes precedence over the roofline") {
  auto profile = even_profile(10, 1_us, 100_us);
  profile.gpu = "other";
  auto scenario = profiled_scenario(profile);
  scenario.profiled_gpu = round_gpu();
  scenario.model.anchors = {{"round", Precision::fp32, 8, Optimizer::sgd, 5_ms, "test"}};
  const auto costs = profile_costs(scenario);
  CHECK(costs.extrapolation == Extrapolation::anchor);
  double sum = 0;
  for (const auto time : costs.gpu) sum += time.value();
  CHECK(sum == Approx(5e-3).epsilon(1e-6));
}

TEST_CASE("gaps between kernels explain less where CPU launches lengthen a GPU-bound step") {
  // The GPU waits for 20 slow launches after a synchronisation; 80 fast ones follow.
  auto profile = even_profile(50, 2_us, 10_us, 2_us);
  for (std::size_t i = 0; i < 20; ++i) profile.launches[i].cpu = 20_us;
  profile.launches.back().host_waits = true;
  const auto alone = without_profiler(profile);
  const auto gpu_alone = us(replay({101, ReplayedLaunch{{}, 10_us, false}}, 1, 2_us * profiled_pause_share));
  REQUIRE(us(alone.step) > gpu_alone);
  profile.step_time = alone.step;
  const auto costs = without_profiler(profile);
  CHECK(costs.cpu_scale == profiled_cpu_share);
  CHECK(us(costs.pause) == Approx(us(alone.pause)).epsilon(0.01));
  CHECK(us(costs.step) == Approx(us(alone.step)));
}
