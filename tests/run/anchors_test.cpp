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
  CHECK(test::has_fact(far.warnings, warning::AnchorOtherBatch{64, 8}));
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
  CHECK_FALSE(test::find_fact<warning::ImplausibleAnchor>(simulate(scenario, "fluid").warnings));
  scenario.model.anchors = {on_l40s(32, 200_ms)};
  const auto warnings = simulate(scenario, "fluid").warnings;
  const auto* implausible = test::find_fact<warning::ImplausibleAnchor>(warnings);
  REQUIRE(implausible);
  CHECK(implausible->scale > implausible->high);
  CHECK(implausible->low == Approx(0.59).epsilon(0.01));
  CHECK(implausible->high == Approx(1.69).epsilon(0.01));
}

TEST_CASE("a key that changes nothing says so") {
  const auto plain = simulate(load("article/g6e"), "fluid");
  const auto set = simulate(
      load("article/g6e", {{"strategy.static_graph", "true"}, {"input.loader_workers", "0"}}), "fluid");
  CHECK(set.measured.metrics.step_time == plain.measured.metrics.step_time);
  const warning::KeyWithoutEffect workers{.key = "input.loader_workers", .needs = "input.dataset"};
  CHECK(test::has_fact(set.warnings, workers));
  CHECK(test::has_fact(set.warnings, warning::StaticGraphNotPredicted{}));
  CHECK_FALSE(test::has_fact(plain.warnings, workers));
  CHECK_FALSE(test::has_fact(plain.warnings, warning::StaticGraphNotPredicted{}));
}

TEST_CASE("keys of storage and workers that change nothing say so") {
  const auto warned = [](const std::string& input) {
    const auto run = simulate(load("loading/resnet50", {{"input", input}}), "fluid");
    return test::facts_of<warning::KeyWithoutEffect>(run.warnings);
  };
  const std::string dataset = "dataset: imagenet-1k, loader_workers: 8, ";
  using Warned = std::vector<warning::KeyWithoutEffect>;
  using Why = warning::KeyWithoutEffect::Why;
  CHECK(warned("{ persistent_workers: true, worker_start: 9 ms }") ==
        Warned{{.key = "input.persistent_workers", .needs = "input.dataset"},
               {.key = "input.worker_start", .needs = "input.dataset"}});
  CHECK(warned("{" + dataset + "storage: local-nvme, storage_network: shared }") ==
        Warned{{.key = "input.storage_network", .why = Why::storage_is_local}});
  CHECK(warned("{" + dataset + "storage_network: shared }") ==
        Warned{{.key = "input.storage_network", .needs = "input.storage"}});
  CHECK(warned("{" + dataset + "storage: aws-efs, storage_weight: 2 }") ==
        Warned{{.key = "input.storage_weight", .why = Why::storage_has_own_network}});
  CHECK(warned("{" + dataset + "epoch: first }") == Warned{{.key = "input.epoch", .needs = "input.cache"}});
  CHECK(warned("{" + dataset + "epoch: first, persistent_workers: true }").empty());
}
