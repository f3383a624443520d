// SPDX-License-Identifier: Apache-2.0
// Planning of trainings: the fast search of a layout against the exact one, and the scenarios that plans
// have.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "sim/config/config.hpp"
#include "sim/config/scenario_yaml.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/study/search/training_plan.hpp"

using namespace gradway;

namespace {

const DataPath plan_data{{GRADWAY_SOURCE_DIR}};

TrainingPlan small_plan(const std::string& framework = "pytorch") {
  return {.model = "gpt_124m", .framework = framework, .global_batch = 64, .set = {}};
}

std::string message_of(const TrainingPlan& plan, const Cluster& cluster) {
  try {
    layout_on(plan, cluster, plan_data);
  } catch (const ConfigError& error) {
    return error.problems().front().what;
  }
  return "";
}

struct PlannedJob {
  std::string model, framework, platform;
  int gpus, batch;
};

/// Checks the layout of a plan against the fastest of all layouts that certainly fit.
void check_layout_of_plan(const PlannedJob& job) {
  CAPTURE(job.model, job.framework, job.platform);
  const TrainingPlan plan{
      .model = job.model, .framework = job.framework, .global_batch = job.batch, .set = {}};
  const Cluster cluster{job.platform, job.gpus, {}};
  const auto planned = layout_on(plan, cluster, plan_data);
  CHECK(planned.chosen.verdict == MemoryVerdict::fits);
  CHECK(planned.chosen.job.samples() == job.batch);

  const auto exact =
      search_layouts(scenario_on(plan, cluster, plan_data).load(), job.batch, exact_search(10));
  auto best = Seconds::infinite();
  for (const auto& layout : exact.ranked)
    if (layout.verdict == MemoryVerdict::fits) best = std::min(best, layout.metrics.step_time);
  CHECK(planned.chosen.metrics.step_time / best < 1.03);
  CHECK(planned.search.simulated <= exact.simulated);
}

}  // namespace

TEST_CASE("the layout of a plan for a dense model is close to the best one that certainly fits",
          "[study][layout]") {
  check_layout_of_plan(GENERATE(PlannedJob{"gpt_124m", "pytorch", "dgx-h100", 16, 64},
                                PlannedJob{"gpt_124m", "megatron", "dgx-h100", 16, 64},
                                PlannedJob{"llama2_7b", "pytorch", "aws-p4d.24xlarge", 8, 32},
                                PlannedJob{"llama2_7b", "megatron", "aws-p5.48xlarge", 16, 32}));
}

TEST_CASE("the layout of a plan for other jobs is close to the best one that certainly fits",
          "[study][layout]") {
  check_layout_of_plan(GENERATE(PlannedJob{"vit_b_16", "pytorch", "aws-p5.48xlarge", 8, 1024},
                                PlannedJob{"moe_gpt_0b5", "megatron", "aws-p5.48xlarge", 16, 128},
                                PlannedJob{"gpt2", "pytorch", "nvidia-gb200-nvl72", 72, 576}));
}

TEST_CASE("the layout of a plan for BERT is close to the best one that certainly fits", "[study][layout]") {
  check_layout_of_plan({"bert_large_squad", "pytorch", "aws-p4d.24xlarge", 8, 256});
}

TEST_CASE("the layout of a plan for 60 GPUs is close to the best one that certainly fits",
          "[study][layout]") {
  check_layout_of_plan({"gpt_124m", "megatron", "aws-p4d.24xlarge", 60, 480});
}

TEST_CASE("a first look finds the fastest layout without model-parallel ranks that certainly fits",
          "[study][layout]") {
  const auto plan = small_plan();
  const Cluster cluster{"dgx-h100", 16, {}};
  const auto first = layout_on(plan, cluster, plan_data, {}, first_look());
  CHECK(first.chosen.job.layout.model_parallel_ranks() == 1);
  auto best = Seconds::infinite();
  const auto exact = search_layouts(scenario_on(plan, cluster, plan_data).load(), 64, exact_search(1000));
  for (const auto& layout : exact.ranked)
    if (layout.job.layout.model_parallel_ranks() == 1 && layout.verdict == MemoryVerdict::fits)
      best = std::min(best, layout.metrics.step_time);
  CHECK(first.chosen.metrics.step_time / best < 1.03);
}

TEST_CASE("where no layout without model-parallel ranks fits, a first look says so", "[study][layout]") {
  const TrainingPlan plan{.model = "llama2_13b", .framework = "megatron", .global_batch = 32, .set = {}};
  const Cluster cluster{"dgx-h100", 16, {}};
  CHECK(layout_on(plan, cluster, plan_data).chosen.job.layout.model_parallel_ranks() > 1);
  CHECK_THROWS_WITH(layout_on(plan, cluster, plan_data, {}, first_look()),
                    Catch::Contains("no layout without model-parallel ranks certainly fits"));
}

TEST_CASE("the estimate that sorts layouts is at most 2 % above their step time", "[study][layout]") {
  const auto framework = GENERATE("pytorch", "megatron");
  const auto scenario = scenario_on(small_plan(framework), {"dgx-h100", 16, {}}, plan_data).load();
  const auto found = search_layouts(scenario, 64, exact_search(1000));
  REQUIRE(found.ranked.size() > 20);
  for (const auto& one : found.ranked) {
    RequirementEstimator estimator{scenario};
    CHECK(estimator.least_time_of(one.job) / one.metrics.step_time < 1.02);
    CHECK(estimator.estimate(one.job).at_least / one.metrics.step_time < 1 + 1e-9);
  }
}

TEST_CASE("the bound of a layout has the communication that its kernels wait for", "[study][layout]") {
  // Kernels wait for most of the exchanges of eight tensor ranks.
  const std::vector<Override> tensor_ranks{{"model", "llama3_8b"},
                                           {"parallel.tensor", "8"},
                                           {"parallel.pipeline", "1"},
                                           {"parallel.virtual", "1"},
                                           {"parallel.schedule", "1f1b"}};
  const auto [name, set, over_kernels, of_step] =
      GENERATE_COPY(table<std::string, std::vector<Override>, double, double>(
          {{"layouts/llama3_70b", tensor_ranks, 1.1, 0.9},
           {"layouts/llama3_70b", {}, 1, 0.8},
           {"layouts/mixtral_8x7b", {}, 1, 0.8},
           {"layouts/gpt3_175b", {}, 1, 0.8}}));
  const auto scenario = load_scenario(name, set, plan_data);
  RequirementEstimator estimator{scenario};
  const auto kernels = estimator.least_time_of(scenario.job);
  const auto bound = estimator.estimate(scenario.job).at_least;
  const auto step = simulate(scenario, "fluid").measured.metrics.step_time;
  CAPTURE(name, kernels.value(), bound.value(), step.value());
  CHECK(bound <= step);
  CHECK(bound / step > of_step);
  CHECK(bound / kernels >= over_kernels);
}

TEST_CASE("the default step of a plan divides over all compared numbers of GPUs", "[study]") {
  auto plan = small_plan();
  plan.global_batch = 0;
  const auto samples = [&](const std::string& model, const std::vector<int>& gpus, int tokens = 0) {
    plan.model = model;
    plan.compared_gpus = gpus;
    plan.set.clear();
    if (tokens > 0) plan.set = {{"job.sequence", std::to_string(tokens)}};
    return samples_per_step(plan, scenario_on(plan, {"dgx-h100", 8, {}}, plan_data).load());
  };
  CHECK(samples("llama3_8b", {8, 64, 1024}) == (1 << 22) / 8192);
  CHECK(samples("resnet50", {8}) == 1024);
  CHECK(samples("dlrm", {8}) == 65536);
  // 3,072 tokens: 1,365 samples would be 4 Mi tokens, and 1,024 are the nearest power of two.
  CHECK(samples("llama3_8b", {64}, 3072) == 1024);
  CHECK(samples("llama3_8b", {72}) == 576);
  CHECK(samples("llama3_8b", {64, 72}) == 576);
  CHECK(samples("llama3_8b", {24, 40, 48, 72}) == 720);
  for (const auto gpus : {24, 40, 48, 60, 72, 96, 120}) CHECK(samples("llama3_8b", {gpus}) % gpus == 0);
  // No step of this size divides over both.
  CHECK(samples("llama3_8b", {1021, 1019}) == 512);
}

TEST_CASE("models without blocks are replicated", "[study]") {
  const TrainingPlan plan{.model = "ddp-24", .global_batch = 1024, .set = {}};
  const auto found = layout_on(plan, {"dgx-h100", 8, {}}, plan_data);
  CHECK(found.chosen.job.samples() == 1024);
  CHECK(found.chosen.job.layout.model_parallel_ranks() == 1);
  CHECK(found.search.ranked.empty());
  auto odd = plan;
  odd.global_batch = 1025;
  CHECK(message_of(odd, {"dgx-h100", 8, {}}) == "1025 samples per step cannot be distributed over 8 GPUs");
}

TEST_CASE("a plan refuses what cannot run, with a reason", "[study]") {
  CHECK(message_of({.model = "llama3_405b", .global_batch = 8, .set = {}}, {"aws-p5.48xlarge", 8, {}})
            .starts_with("no layout fits: the smallest needs"));
}

TEST_CASE("a platform of fixed size refuses more GPUs than it has", "[study]") {
  constexpr int gpus = 1024;
  int fixed = 0;
  for (const auto& name : list_names(DataKind::platform, plan_data)) {
    const auto size = load_platform(name, gpus, plan_data).gpus.size();
    if (size >= gpus) continue;
    ++fixed;
    CHECK(message_of(small_plan(), {name, gpus, {}}) ==
          fmt::format("job.gpus {} is more than the {} GPU{} of the platform", gpus, size,
                      size == 1 ? "" : "s"));
  }
  CHECK(fixed >= 3);
}

TEST_CASE("samples per step that need too many micro-batches are refused", "[study]") {
  auto plan = small_plan();
  plan.global_batch = 1'000'000'000;
  CHECK(message_of(plan, {"dgx-h100", 8, {}}).ends_with(" micro-batches on each GPU, more than 10000"));
}

TEST_CASE("a campaign of a plan has failures, and storage for its checkpoints", "[study]") {
  auto plan = small_plan();
  plan.set = {{"campaign.tokens", "10B"}};
  const auto settings = [&](TrainingPlan from) {
    return scenario_on(from, {"gcp-a3-megagpu-8g", 16, {}}, plan_data).load().campaign.value();
  };
  CHECK(settings(plan).failures.has_value());
  // 122 MB/s of each GPU.
  CHECK(settings(plan).checkpoint.value().write.value() == Approx(16 * 122e6));
  CHECK_FALSE(settings(plan).spot.has_value());
  auto spot = plan;
  spot.set.push_back({"campaign.terms", "spot"});
  CHECK(settings(spot).spot.has_value());
  auto ideal = plan;
  ideal.failures = "none";
  CHECK_FALSE(settings(ideal).failures.has_value());
  auto own = plan;
  own.set.push_back({"campaign.checkpoint.write", "1 GB/s"});
  CHECK(settings(own).checkpoint.value().write.value() == Approx(1e9));
}
