// SPDX-License-Identifier: Apache-2.0
// Which measured step a prediction is scaled to, and which is not believed; and keys that change nothing.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/facts.hpp"

using namespace gradway;

namespace {

Scenario load(const std::string& name, const std::vector<Override>& set = {}) {
  return load_scenario(name, set, DataPath{{GRADWAY_SOURCE_DIR}});
}

Seconds step(const Scenario& scenario) {
  return simulate(scenario, "fluid").measured.metrics.step_time;
}

Anchor on_l40s(int batch, Seconds time, Optimizer optimizer = Optimizer::sgd) {
  return {"l40s", Precision::fp32, batch, optimizer, time, "test"};
}

}  // namespace

TEST_CASE("which anchor is taken does not depend on the order of the file") {
  // A model by layers, and a profile that is moved to another GPU.
  const std::vector<Override> set{
      {"platform", "aws-g6e.48xlarge"}, {"job.gpus", "1"}, {"job.precision", "fp32"}};
  auto scenario = load(GENERATE("article/g6e", "h200-4x/vit_l_32"), set);
  const std::vector<Anchor> anchors{on_l40s(8, 45_ms), on_l40s(64, 300_ms), on_l40s(32, 112_ms),
                                    on_l40s(32, 118_ms, Optimizer::adamw)};
  for (const int batch : {8, 16, 32, 48, 64, 100}) {
    for (const auto optimizer : {Optimizer::sgd, Optimizer::adamw, Optimizer::adamw_fused}) {
      scenario.job.batch_per_gpu = batch;
      scenario.job.optimizer = optimizer;
      scenario.model.anchors = anchors;
      const auto forwards = step(scenario);
      std::ranges::reverse(scenario.model.anchors);
      CAPTURE(batch);
      CHECK(step(scenario) == forwards);
    }
  }
}

TEST_CASE("the anchor of the nearest batch counts, and a far one is doubted more") {
  auto scenario = load("h200-4x/vit_l_32", {{"platform", "aws-g6e.48xlarge"}, {"job.gpus", "1"}});
  scenario.model.anchors = {on_l40s(64, 300_ms), on_l40s(8, 45_ms)};
  scenario.job.strategy = NoExchange{};
  scenario.job.batch_per_gpu = 8;
  const auto near = simulate(scenario, "fluid");
  CHECK(near.measured.metrics.step_time.value() == Approx(45e-3).epsilon(0.01));
  scenario.model.anchors.pop_back();
  const auto far = simulate(scenario, "fluid");
  const auto* other_batch = test::find_warning(far.warnings, "anchor-other-batch");
  REQUIRE(other_batch);
  CHECK_THAT(other_batch->sentence, Catch::Contains("measured at batch 64, the job has 8"));
  const auto width = [](const Run& run) {
    return (run.range.high - run.range.low) / run.measured.metrics.step_time;
  };
  CHECK(width(far) > 2 * width(near));  // its own rests on a CPU that only the anchor proves
}

TEST_CASE("an anchor above the peak of its GPU is the user's error") {
  auto scenario = load(GENERATE("article/g6e", "h200-4x/vit_l_32"), {{"platform", "aws-g6e.48xlarge"}});
  scenario.model.anchors = {on_l40s(32, 20_ms)};
  CHECK_THROWS_WITH(simulate(scenario, "fluid"),
                    Catch::Contains("the anchor of 20 ms per step at batch 32 on l40s needs") &&
                        Catch::Contains("TFLOP/s, which exceeds the peak of 91.6") &&
                        Catch::Contains("hint: check its 'step_time' or 'rate'"));
}

TEST_CASE("an anchor outside what the operations can be off by is warned about") {
  auto scenario = load("article/g6e");
  CHECK_FALSE(test::find_warning(simulate(scenario, "fluid").warnings, "implausible-anchor"));
  scenario.model.anchors = {on_l40s(32, 200_ms)};
  const auto run = simulate(scenario, "fluid");
  const auto* implausible = test::find_warning(run.warnings, "implausible-anchor");
  REQUIRE(implausible);
  CHECK_THAT(implausible->sentence, Catch::Contains("999 of 1,000 anchors are 0.59 to 1.69 times"));
  CHECK(std::ranges::any_of(run.errors, [](const PossibleError& error) {
    return error.source.ends_with("on l40s in fp32 by a step of 200 ms at batch 32");
  }));
}

TEST_CASE("a key whose effect is not predicted says so") {
  const auto plain = simulate(load("article/g6e"), "fluid");
  const auto set = simulate(load("article/g6e", {{"strategy.static_graph", "true"}}), "fluid");
  CHECK(set.measured.metrics.step_time == plain.measured.metrics.step_time);
  CHECK(test::find_warning(set.warnings, "static-graph-not-predicted"));
  CHECK_FALSE(test::find_warning(plain.warnings, "static-graph-not-predicted"));
}

TEST_CASE("keys of storage and workers without effect are refused") {
  const auto refused = [](const std::string& input) {
    std::vector<std::string> whats;
    try {
      load("loading/resnet50", {{"input", input}});
    } catch (const ConfigError& error) {
      for (const auto& problem : error.problems()) whats.push_back(problem.what);
    }
    return whats;
  };
  const std::string dataset = "dataset: imagenet-1k, loader_workers: 8, ";
  using Whats = std::vector<std::string>;
  CHECK(refused("{ persistent_workers: true, loader_workers: 2 }") ==
        Whats{"input.loader_workers has no effect: samples are ready without input.dataset",
              "input.persistent_workers has no effect: samples are ready without input.dataset"});
  CHECK(refused("{" + dataset + "storage: local-nvme, storage_network: shared }") ==
        Whats{"input.storage_network has no effect: each node has its own storage"});
  CHECK(refused("{" + dataset + "storage_network: shared }") ==
        Whats{"input.storage_network has no effect: samples are in host memory without input.storage"});
  CHECK(refused("{" + dataset + "storage: aws-efs, storage_weight: 2 }") ==
        Whats{"input.storage_weight has no effect: the storage has its own network"});
  CHECK(
      refused("{" + dataset + "epoch: first }") ==
      Whats{
          "input.epoch has no effect: all epochs are alike without a cache, staging or persistent workers"});
  CHECK(refused("{" + dataset + "epoch: first, persistent_workers: true }").empty());
}
