// SPDX-License-Identifier: Apache-2.0
// What makes a job fit into the memory of its GPUs.
#include <algorithm>

#include <catch2/catch.hpp>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/config/config.hpp"
#include "sim/study/explain/explain.hpp"

using namespace gradway;

namespace {

Scenario llama(const std::vector<Override>& overrides) {
  return load_scenario("sharded/llama2_7b", overrides, DataPath{{GRADWAY_SOURCE_DIR}});
}

}  // namespace

TEST_CASE("changes that make a job fit are sorted by step time and keep the samples of a step", "[study]") {
  const auto scenario = llama({{"job.batch_per_gpu", "16"}});
  const auto as_written = simulate(scenario, "fluid").measured.memory;
  CHECK(!fits(scenario, as_written));
  const auto changes = changes_to_fit(scenario, as_written.nccl, "fluid", 1);
  REQUIRE(changes.size() == 4);
  CHECK(std::ranges::is_sorted(changes, {}, &Counterfactual::step_time));
  CHECK(changes[0].set == Settings{{"job.batch_per_gpu", "2"}, {"job.accumulate", "8"}});
  CHECK(changes[1].set == Settings{{"job.recompute", "full"}});
  CHECK(changes[2].set == Settings{{"job.recompute", "full"}, {"job.recompute_offload", "true"}});
  CHECK(changes[3].set == Settings{{"parallel.context", "8"}, {"job.accumulate", "8"}});
  for (const auto& change : changes) {
    auto changed = scenario;
    set_keys(changed, change.set);
    CHECK(changed.job.samples() == scenario.job.samples());
    const auto measured = simulate(changed, "fluid").measured;
    CHECK(measured.metrics.step_time == change.step_time);
    CHECK(measured.memory.needed() == change.needs);
    CHECK(fits(changed, measured.memory));
  }
}

TEST_CASE("two changes are combined if no single one makes a job fit", "[study]") {
  auto scenario = llama({{"job.batch_per_gpu", "1"}, {"job.sequence", "65536"}});
  scenario.platform.gpu_models.front().memory = Bytes{36e9};  // blocks recomputed from host memory: 40 GB
  const auto nccl = simulate(scenario, "fluid").measured.memory.nccl;
  const auto changes = changes_to_fit(scenario, nccl, "fluid", 1);
  REQUIRE(!changes.empty());
  for (const auto& change : changes) CHECK(change.name.find(", ") != std::string::npos);
}

TEST_CASE("two changes are combined if the step is shorter than with one that fits as surely", "[study]") {
  const auto scenario = llama({{"model", "llama3_8b"}, {"job.batch_per_gpu", "8"}, {"job.sequence", "8192"}});
  const auto nccl = simulate(scenario, "fluid").measured.memory.nccl;
  const auto changes = changes_to_fit(scenario, nccl, "fluid", 1);
  CHECK(std::ranges::is_sorted(changes, {}, &Counterfactual::step_time));
  int pairs = 0;
  for (const auto& pair : changes) {
    if (pair.name.find(", ") == std::string::npos) continue;
    ++pairs;
    for (const auto& single : changes)
      CHECK((single.name.find(", ") != std::string::npos || single.step_time > pair.step_time ||
             single.verdict > pair.verdict));
  }
  CHECK((pairs > 0 && pairs <= 3));
}

TEST_CASE("as many changes are combined as a job needs to fit, each once", "[study]") {
  const auto scenario = load_scenario("finetune/llama3_8b",
                                      {{"model", "llama3_70b"},
                                       {"platform", "aws-g6e.xlarge"},
                                       {"job.batch_per_gpu", "8"},
                                       {"job.finetune", "qlora"},
                                       {"job.recompute", "none"}},
                                      DataPath{{GRADWAY_SOURCE_DIR}});
  const auto changes = changes_to_fit(scenario, 0_B, "fluid", 1);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].set == Settings{{"job.recompute", "full"},
                                   {"job.recompute_offload", "true"},
                                   {"job.loss_chunk", "256"},
                                   {"job.batch_per_gpu", "1"},
                                   {"job.accumulate", "8"}});
  CHECK(changes[0].verdict == MemoryVerdict::tight);
}

TEST_CASE("sequence parallelism is among what makes a job of Megatron fit", "[study]") {
  auto scenario =
      load_scenario("layouts/llama3_70b", {{"parallel.sequence", "false"}, {"job.recompute", "full"}},
                    DataPath{{GRADWAY_SOURCE_DIR}});
  const auto memory = simulate(scenario, "fluid").measured.memory;
  scenario.platform.gpu_models.front().memory = memory.needed() - 1_GB;
  const auto changes = changes_to_fit(scenario, memory.nccl, "fluid", 1);
  const auto sequence = std::ranges::find(changes, "sequence_parallel", &Counterfactual::name);
  REQUIRE(sequence != changes.end());
  CHECK(sequence->needs < memory.needed() - 1_GB);
}

TEST_CASE("changes that a job cannot have are left out", "[study]") {
  // Twice as many micro-batches are more than a step may have.
  const auto scenario = llama({{"job.batch_per_gpu", "16"}, {"job.accumulate", "8192"}});
  const auto nccl = simulate(scenario, "fluid").measured.memory.nccl;
  const auto changes = changes_to_fit(scenario, nccl, "fluid", 1);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].set == Settings{{"job.recompute", "full"}});
}

TEST_CASE("what fits is the largest batch, and changes for the job as written", "[study]") {
  auto fitting = llama({});
  const auto fits_as_written = take_what_fits(fitting, "fluid", 1);
  CHECK(fits_as_written.changes.empty());
  REQUIRE(fits_as_written.largest_batch);
  CHECK(fitting.job.batch_per_gpu == fits_as_written.largest_batch->batch);

  auto long_samples = llama({{"job.batch_per_gpu", "1"}, {"job.sequence", "65536"}});
  const auto step = simulate(long_samples, "fluid").measured.metrics.step_time;
  const auto too_long = take_what_fits(long_samples, "fluid", 1);
  CHECK(!too_long.largest_batch);  // not even one sample fits
  CHECK(!too_long.changes.empty());
  CHECK(too_long.step_as_written == step);
  CHECK(long_samples.job.batch_per_gpu == 1);

  auto hopeless = llama({{"job.sequence", "65536"}});
  hopeless.platform.gpu_models.front().memory = Bytes{4e9};
  CHECK_THROWS_AS(take_what_fits(hopeless, "fluid", 1), ConfigError);
}
