// SPDX-License-Identifier: Apache-2.0
// The largest batch that fits, and why there may be none.
#include <catch2/catch.hpp>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/search/largest_batch.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/facts.hpp"
#include "tests/support/profiles.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Scenario gpt_on(int gpus, Bytes memory) {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(4));
  scenario.platform.gpu_models.front().memory = memory;
  scenario.model.name = "gpt";
  set_forward_pass(scenario.model,
                   decoder({.layers = 2, .heads = 4, .hidden = 256, .mlp = 1024, .vocabulary = 1000}));
  scenario.job.gpus = gpus;
  scenario.job.batch_per_gpu = 3;
  scenario.job.precision = Precision::bf16;
  scenario.job.optimizer = Optimizer::adamw;
  return scenario;
}

bool runs_with(Scenario scenario, int batch) {
  scenario.job.batch_per_gpu = batch;
  const auto run = simulate(scenario, "fluid");
  return fits(run.scenario, run.measured.memory);
}

MemoryVerdict verdict_with(Scenario scenario, int batch) {
  scenario.job.batch_per_gpu = batch;
  const auto run = simulate(scenario, "fluid");
  return memory_range(run.scenario, run.measured.memory).verdict;
}

std::string refusal(const Scenario& scenario) {
  try {
    largest_batch(scenario);
  } catch (const ConfigError& error) {
    return to_text(error.problems().front());
  }
  return "";
}

}  // namespace

TEST_CASE("the largest batch fits with its memory interval, and one more sample does not", "[study][fit]") {
  const auto gpus = GENERATE(1, 4);
  const auto memory = GENERATE(4_GB, 10_GB, 40_GB);
  CAPTURE(gpus, memory.value());
  const auto scenario = gpt_on(gpus, memory);
  const auto largest = largest_batch(scenario);
  CHECK(largest.as_written == 3);
  CHECK(verdict_with(scenario, largest.batch) == MemoryVerdict::fits);
  CHECK(verdict_with(scenario, largest.batch + 1) != MemoryVerdict::fits);
  CHECK(runs_with(scenario, largest.tight_batch));
  CHECK_FALSE(runs_with(scenario, largest.tight_batch + 1));
  CHECK(largest.batch < largest.tight_batch);
  CHECK(largest.needs < *largest.one_more_needs);
}

TEST_CASE("the reason is reported if there is no largest batch", "[study][fit]") {
  CHECK_THAT(
      refusal(gpt_on(1, 500_MB)),
      Catch::Matchers::StartsWith("error: with batch_per_gpu 1 the job does not fit: ") &&
          Catch::Matchers::EndsWith(", most of it framework)\n  hint: no batch fits: use GPUs with more "
                                    "memory, or an optimizer that keeps less state\n"));
  CHECK(refusal(ring_scenario(2, {{"layer", 1, 1_ms, 2_ms, 1000}}, 50_MB)) ==
        "error: the memory of the GPU 'ideal' is unlimited, so there is no largest batch\n"
        "  hint: use a platform whose GPUs have a memory size\n");
  auto collective = gpt_on(4, 4_GB);
  collective.job.strategy = OneCollective{.kind = CollectiveKind::all_reduce, .size = 1_MiB};
  CHECK(refusal(collective) ==
        "error: a collective has no batch size\n"
        "  hint: leave out '--fit', or use a scenario with a model\n");
  auto profile = test::even_profile(1, 5_us, 20_us);
  const std::string hint =
      "  hint: import a trace that was recorded with profile_memory=True, or describe the model by its "
      "architecture\n";
  CHECK(refusal(test::profiled_scenario(profile)) ==
        "error: the largest batch of the profile 'profiled' is unknown: its memory does not include "
        "activations\n" +
            hint);
  profile.memory_from = MemorySource::shapes;
  profile.memory = {{.grows = 1_MB}};
  profile.memory_lacks = {"mine::op"};
  CHECK(refusal(test::profiled_scenario(profile)) ==
        "error: the largest batch of the profile 'profiled' is unknown: its memory does not include all "
        "activations\n" +
            hint);
}

TEST_CASE("a profile with its memory has a largest batch", "[study][fit]") {
  auto profile = test::even_profile(1, 5_us, 20_us);
  profile.memory_from = MemorySource::recorded;
  profile.memory = {{.grows = 8_GB}};  // of 8 samples
  const auto scenario = test::profiled_scenario(profile);
  const auto memory = scenario.platform.gpu_models.front().memory.value() / 1e9;
  // a gigabyte a sample and a twentieth for the allocator; under a gigabyte for all else
  CHECK(largest_batch(scenario).tight_batch <= memory / 1.05);
  CHECK(largest_batch(scenario).tight_batch >= memory / 1.05 - 2);
  CHECK(largest_batch(scenario).batch < largest_batch(scenario).tight_batch);
}

TEST_CASE("a report says when the memory of a profile lacks activations", "[study][fit]") {
  auto profile = test::even_profile(1, 5_us, 20_us);
  const auto warns = [&] {
    const auto run = simulate(test::profiled_scenario(profile), "fluid");
    return test::find_warning(run.warnings, "unknown-activations") ||
           test::find_warning(run.warnings, "incomplete-activations");
  };
  CHECK(warns());
  profile.memory_from = MemorySource::shapes;
  profile.memory = {{.grows = 1_MB}};
  CHECK_FALSE(warns());
  profile.memory_lacks = {"mine::op"};
  CHECK(warns());
}
