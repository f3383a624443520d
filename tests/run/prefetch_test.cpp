// SPDX-License-Identifier: Apache-2.0
// When copies of batches to come start: closed forms of a step of kernels that the GPU bounds, whose batch
// takes so long to copy. The CPU costs next to nothing, and is a step ahead.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/run/simulate.hpp"
#include "tests/support/facts.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr double kernel = 20e-6;
constexpr int layers = 300;
constexpr double forward = layers * kernel;  // 6 ms, so are the gradients; one kernel is the optimizer's
constexpr double compute = (2 * layers + 1) * kernel;

/// Kernels, and a batch of so many bytes that is copied at 25 GB/s before the first.
Scenario with_batch(Bytes batch) {
  auto profile = even_profile(layers, 1e-9_s, 20_us);
  auto copy = kernel_launch(ProfiledPhase::forward, 1e-9_s, 1_us, KernelClass::copy_in);
  copy.bytes = batch;
  profile.launches.insert(profile.launches.begin(), copy);
  for (auto& gradient : profile.gradients) ++gradient.after;
  return profiled_scenario(profile);
}

double step_of(const Scenario& scenario, const char* engine = "fluid") {
  return simulate(scenario, engine).measured.metrics.step_time.value();
}

/// Of a copy: latencies of the links stand in the platform.
constexpr double margin = 20e-6;

}  // namespace

TEST_CASE("a batch that is copied in its own step lengthens it, and a prefetcher hides what fits",
          "[prefetch]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto batch = GENERATE(100_MB, 200_MB, 400_MB);  // 4, 8 and 16 ms
  const double copy = batch.value() / 25e9;
  CAPTURE(engine, copy);
  auto scenario = with_batch(batch);
  CHECK(step_of(scenario, engine) == Approx(compute + copy).margin(margin));
  scenario.job.input.prefetch = CopyStart::ahead;
  CHECK(step_of(scenario, engine) == Approx(std::max(compute, copy)).margin(margin));
  scenario.job.input.prefetch = CopyStart::step;
  CHECK(step_of(scenario, engine) == Approx(std::max(compute, copy)).margin(margin));
  // Behind the forward pass only the rest of the step hides it.
  scenario.job.input.prefetch = CopyStart::forward;
  CHECK(step_of(scenario, engine) == Approx(std::max(compute, forward + copy)).margin(margin));
}

TEST_CASE("each micro-step has the batch that was copied beside the one before", "[prefetch]") {
  auto scenario = with_batch(300_MB);  // 12 ms, as long as a micro-step
  scenario.job.accumulate = 3;
  const double copy = 12e-3;
  // Micro-steps but the last have no optimizer, those but the first add up gradients.
  auto without = with_batch(1_B);
  without.job.accumulate = 3;
  const auto computed = step_of(without);
  CHECK(step_of(scenario) == Approx(computed + 3 * copy).margin(3 * margin));
  scenario.job.input.prefetch = CopyStart::step;
  CHECK(step_of(scenario) == Approx(computed).margin(3 * margin));
  scenario.job.input.prefetch = CopyStart::forward;
  CHECK(step_of(scenario) >= 3 * (forward + copy) - margin);
}

TEST_CASE("what else is copied starts as it is told, behind the batch of its step", "[prefetch]") {
  auto scenario = with_batch(25_MB);  // 1 ms
  auto& input = scenario.job.input;
  input.background_copy = 200_MB;  // 8 ms
  input.background_start = CopyStart::step;
  CHECK(step_of(scenario) == Approx(compute + 1e-3).margin(margin));
  input.background_start = CopyStart::forward;
  CHECK(step_of(scenario) == Approx(std::max(compute + 1e-3, 1e-3 + forward + 8e-3)).margin(margin));
  input.background_copy = 0_B;
  CHECK(step_of(scenario) == Approx(compute + 1e-3).margin(margin));
}

TEST_CASE("a prefetched batch lies beside the one in use", "[prefetch]") {
  auto scenario = with_batch(25_MB);
  scenario.model.input_per_sample = 3_MB;
  const auto input_of = [&] { return simulate(scenario, "fluid").workload.programs.front().memory.input; };
  CHECK(input_of() == 24_MB);
  scenario.job.input.prefetch = CopyStart::ahead;
  CHECK(input_of() == 48_MB);
}
