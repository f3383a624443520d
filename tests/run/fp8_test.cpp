// SPDX-License-Identifier: Apache-2.0
// What jobs in fp8 send, cast and hold.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

using Sets = std::vector<Override>;

Scenario llama(const Sets& more) {
  Sets set{{"model", "llama2_7b"},    {"platform", "dgx-h100"}, {"job.gpus", "8"},
           {"job.precision", "fp8"},  {"job.sequence", "2048"}, {"job.batch_per_gpu", "1"},
           {"job.recompute", "none"}, {"optimizer", "adamw"}};
  set.insert(set.end(), more.begin(), more.end());
  return load_scenario("sharded/llama2_7b", set, DataPath{{GRADWAY_SOURCE_DIR}});
}

Workload checked_plan(const Scenario& scenario) {
  auto workload = plan(scenario, compute_costs(scenario));
  check(workload);
  return workload;
}

double megabytes_of(const Workload& workload, const std::string& name) {
  double bytes = 0;
  for (const auto& task : workload.first_program().tasks)
    if (const auto* call = std::get_if<Call>(&task.work); call && task.name.ends_with(name))
      bytes += call->bytes.value();
  return bytes / 1e6;
}

int count_of(const Workload& workload, const std::string& name) {
  return static_cast<int>(std::ranges::count(workload.first_program().tasks, name, &Task::name));
}

constexpr double blocks = 32;
constexpr double hidden = 4096;
// Queries, keys, values and results; gate, up and down: in millions.
constexpr double weights = blocks * (4 * hidden * hidden + 3 * hidden * 11008) / 1e6;

const Sets fsdp{{"strategy", "{kind: fsdp, param_dtype: bf16, reduce_dtype: fp32}"}};
const Sets megatron{{"job.framework", "megatron"}, {"strategy", "{kind: distributed_optimizer}"}};

Sets with(Sets sets, const Sets& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

}  // namespace

// 32 blocks are gathered forward and back: of each weight 1 byte instead of 2.
TEST_CASE("torchao's all-gather in fp8 brings a byte for each weight of a block", "[fp8]") {
  const auto plain = checked_plan(llama(fsdp));
  const auto in_fp8 = checked_plan(llama(with(fsdp, {{"strategy.fp8_all_gather", "true"}})));
  CHECK(megabytes_of(plain, "all-gather") - megabytes_of(in_fp8, "all-gather") == Approx(2 * weights));
  CHECK(megabytes_of(plain, "reduce-scatter") == megabytes_of(in_fp8, "reduce-scatter"));
  CHECK(count_of(plain, "all-reduce of greatest values") == 0);
  CHECK(count_of(in_fp8, "all-reduce of greatest values") == 1);
}

TEST_CASE("Megatron's gather in fp8 brings a byte for each weight of a block", "[fp8]") {
  const auto plain = llama(megatron);
  const auto gathered = llama(with(megatron, {{"strategy.fp8_param_gather", "true"}}));
  CHECK(megabytes_of(checked_plan(plain), "all-gather") -
            megabytes_of(checked_plan(gathered), "all-gather") ==
        Approx(weights));
  // bf16 and two copies of 8 bits; or these two alone.
  const auto memory = [](const Scenario& scenario) {
    const auto use = simulate(scenario).measured.memory;
    return (use.parameters + use.activations).value() / 1e6;
  };
  CHECK(memory(plain) - memory(gathered) == Approx(2 * weights).epsilon(1e-6));
}

// Each pass of each micro-batch: reduce_and_update_fp8_tensors. Forward three numbers a layer, back two.
TEST_CASE("delayed scaling takes the maximum over all ranks behind each pass", "[fp8]") {
  constexpr double layers = blocks * 4;  // Megatron packs queries, keys, values; gate and up
  const int micro = GENERATE(1, 4);
  const auto scenario = llama(with(megatron, {{"job.accumulate", std::to_string(micro)}}));
  const auto workload = checked_plan(scenario);
  CHECK(count_of(workload, "all-reduce of greatest values") == 2 * micro);
  CHECK(megabytes_of(workload, "all-reduce of greatest values") == Approx(micro * 5 * 4 * layers / 1e6));
  const auto current = llama(with(megatron, {{"job.fp8_recipe", "tensorwise"}}));
  CHECK(count_of(checked_plan(current), "all-reduce of greatest values") == 0);
}

TEST_CASE("the ranks of a stage share scales, and those of others do not", "[fp8]") {
  const auto workload = checked_plan(
      llama(with(megatron, {{"parallel.tensor", "2"}, {"parallel.pipeline", "2"}, {"job.accumulate", "2"}})));
  int groups = 0;
  for (const auto& group : workload.groups) {
    if (!group.name.starts_with("scales")) continue;
    ++groups;
    CHECK(group.members.size() == 4);  // tensor 2 x data 2
  }
  CHECK(groups == 2);
}

// Of the tasks named after a layer the first micro-batch has one more: its weight's cast.
TEST_CASE("Transformer Engine casts weights in the first micro-batch, torchao in each", "[fp8]") {
  const auto tasks = [](const Sets& sets, int micro) {
    return count_of(checked_plan(llama(with(sets, {{"job.accumulate", std::to_string(micro)}}))),
                    "h.3.mlp.fc2");
  };
  CHECK(tasks(megatron, 1) == 3);
  CHECK(tasks(megatron, 3) == 1 + 3 * 2);
  CHECK(tasks(fsdp, 3) == 3 * 2);
}

TEST_CASE("a GPU reaches its peak of fp8, and the step is shorter than in bf16", "[fp8]") {
  const auto time = [](const Sets& sets) { return simulate(llama(sets)).measured.metrics.step_time; };
  const auto sets = GENERATE(fsdp, megatron);
  const auto compiled = with(sets, {{"job.compile", "true"}, {"job.batch_per_gpu", "2"}});
  CHECK(time(compiled) < time(with(compiled, {{"job.precision", "bf16"}})));
}
