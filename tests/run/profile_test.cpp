// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "sim/compute/compute_costs.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/facts.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Seconds step_of(const Scenario& scenario, const char* engine = "fluid") {
  return simulate(scenario, engine).measured.metrics.step_time;
}

/// Alternates between stretches that the CPU bounds and stretches that the GPU bounds.
Profile uneven_profile() {
  auto profile = even_profile(400, 10_us, 8_us, 2_us);
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    if (i / 100 % 2 == 0) profile.launches[i].gpu = 30_us;
    if (i % 37 == 0) profile.launches[i].cpu = 80_us;
  }
  profile.launches[250].host_waits = true;
  return profile;
}

}  // namespace

TEST_CASE("a profiled step on one GPU takes what its replay takes, in both engines") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto scenario = profiled_scenario(uneven_profile());
  const auto costs = compute_costs(scenario);
  CHECK(step_of(scenario, engine).value() ==
        Approx(costs.profile->step.value()).epsilon(tolerance::closed_form));
}

TEST_CASE("a profiled step takes its measured time where nothing was added to it") {
  auto profile = uneven_profile();
  profile.step_time = GENERATE(17_ms, 22_ms, 40_ms);
  CHECK(step_of(profiled_scenario(profile)).value() == Approx(profile.step_time->value()).epsilon(1e-3));
}

TEST_CASE("with kernels ten times as fast a profile is bound by its launches, and says so") {
  auto profile = even_profile(100, 10_us, 8_us, 1_us);
  for (auto& launch : profile.launches) launch.gpu = launch.gpu / 10;
  const auto run = simulate(profiled_scenario(profile), "fluid");
  CHECK(run.measured.metrics.launch_bound > 0.7 * run.measured.metrics.step_time);
  CHECK(test::find_warning(run.warnings, "launch-bound-profile"));
  profile.step_time = run.measured.metrics.step_time;
  const auto with_step = simulate(profiled_scenario(profile), "fluid");
  CHECK_FALSE(test::find_warning(with_step.warnings, "launch-bound-profile"));
}

TEST_CASE("each difference between profile and job is a warning") {
  auto scenario = profiled_scenario(even_profile(10, 1_us, 50_us));
  scenario.job.batch_per_gpu = 9;
  scenario.job.optimizer = Optimizer::adamw;
  scenario.profiled_gpu = round_gpu();
  const auto warnings = simulate(scenario, "fluid").warnings;
  const auto sentence = [&](std::string_view code) {
    const auto* warning = test::find_warning(warnings, code);
    return warning ? warning->sentence : "";
  };
  CHECK_THAT(sentence("profile-other-batch"), Catch::Contains("recorded at batch 8, the job has 9"));
  CHECK_THAT(sentence("profile-other-optimizer"), Catch::Contains("the job has adamw"));
  CHECK(test::find_warning(warnings, "profile-moved-by-roofline"));
}

TEST_CASE("a profile of TF32 kernels under fp32 is a warning, and vice versa, by the names of kernels") {
  auto profile = even_profile(100, 2_us, 20_us);
  const auto share = GENERATE(0, 40, 60, 100);  // of the forward kernels, which are products
  for (int i = 0; i < 100; ++i) {
    auto& launch = profile.launches[static_cast<std::size_t>(i)];
    launch.kind = KernelClass::matrix;
    launch.precision = i < share ? Precision::tf32 : Precision::fp32;
  }
  profile.precision = share > 50 ? Precision::tf32 : Precision::fp32;
  const auto wanted = GENERATE(Precision::fp32, Precision::tf32);
  CAPTURE(share, name_of(wanted));
  auto scenario = profiled_scenario(profile);
  scenario.job.precision = wanted;
  const bool agree = (share > 50) == (wanted == Precision::tf32);
  const auto run = simulate(scenario, "fluid");
  const auto* warning = test::find_warning(run.warnings, "profile-other-precision");
  CHECK((warning == nullptr) == agree);
  if (warning)
    CHECK_THAT(warning->sentence,
               Catch::StartsWith(fmt::format("job.precision is {}, ", name_of(wanted))) &&
                   Catch::Contains(fmt::format("recorded in {}", name_of(profile.precision))));
  // Which of them the job runs is not known: its interval is that of kernels measured elsewhere.
  scenario.job.precision = profile.precision;
  const auto of_its_own = simulate(scenario, "fluid");
  CHECK(run.measured.metrics.step_time == of_its_own.measured.metrics.step_time);
  CHECK((run.range.high > of_its_own.range.high) == !agree);
}

TEST_CASE("what an import called fp32 is TF32 if its kernels are") {
  auto profile = even_profile(10, 2_us, 20_us);
  for (auto& launch : profile.launches) {
    launch.kind = KernelClass::matrix;
    launch.precision = Precision::tf32;
  }
  const auto warnings = simulate(profiled_scenario(profile), "fluid").warnings;
  const auto* precision = test::find_warning(warnings, "profile-other-precision");
  REQUIRE(precision);
  CHECK_THAT(precision->sentence, Catch::Contains("round to TF32 took 100 %"));
}

TEST_CASE("a prefetch in the steady state costs the step nothing if the copy engine has time for it") {
  auto scenario = profiled_scenario(even_profile(500, 2_us, 20_us, 1_us));
  const auto without = step_of(scenario);
  scenario.job.input.background_copy = 100_MB;  // 4 ms at 25 GB/s in a step of 20 ms
  CHECK(step_of(scenario).value() == Approx(without.value()).epsilon(1e-3));
}

TEST_CASE("an input copy waits for the prefetch before it, and the step can be no faster than the copies") {
  auto profile = even_profile(100, 2_us, 20_us);
  auto copy = kernel_launch(ProfiledPhase::forward, 2_us, 40_us, KernelClass::copy_in);
  copy.bytes = 1_MB;
  profile.launches.insert(profile.launches.begin(), copy);
  for (auto& gradient : profile.gradients) ++gradient.after;
  auto scenario = profiled_scenario(profile);
  scenario.job.input.background_copy = 500_MB;
  // 501 MB at 25 GB/s; the kernels take 4 ms
  CHECK(step_of(scenario).value() >= 501e6 / 25e9 * (1 - 1e-9));
  CHECK(step_of(scenario).value() < 501e6 / 25e9 + 5e-3);
}
