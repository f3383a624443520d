// SPDX-License-Identifier: Apache-2.0
// Which measured step a prediction is scaled to, and which is not believed; and keys that change nothing.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

Scenario load(const std::string& name, const std::vector<Override>& set = {}) {
  return load_scenario(name, set, DataPath{{GRADWAY_SOURCE_DIR}});
}

bool has(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(lines, [&](const auto& line) { return line.find(part) != std::string::npos; });
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
  CHECK(has(far.warnings, "the anchor was measured at batch 64, the job has 8: efficiency may differ"));
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
  CHECK_FALSE(has(simulate(scenario, "fluid").warnings, "times the step without it"));
  scenario.model.anchors = {on_l40s(32, 200_ms)};
  CHECK(has(simulate(scenario, "fluid").warnings,
            "times the step without it, where 999 of 1,000 are 0.59 to 1.69"));
}

TEST_CASE("a key that changes nothing says so") {
  const auto plain = simulate(load("article/g6e"), "fluid");
  const auto set = simulate(
      load("article/g6e", {{"strategy.static_graph", "true"}, {"input.loader_workers", "0"}}), "fluid");
  CHECK(set.measured.metrics.step_time == plain.measured.metrics.step_time);
  for (const auto* key :
       {"strategy.static_graph: what it saves is not predicted", "input.loader_workers changes nothing"}) {
    CHECK(has(set.warnings, key));
    CHECK_FALSE(has(plain.warnings, key));
  }
}

TEST_CASE("keys of storage and workers that change nothing say so") {
  const auto warned = [](const std::string& input) {
    const auto run = simulate(load("loading/resnet50", {{"input", input}}), "fluid");
    std::vector<std::string> said;
    for (const auto& warning : run.warnings)
      if (warning.find("changes nothing") != std::string::npos) said.push_back(warning);
    return said;
  };
  const std::string dataset = "dataset: imagenet-1k, loader_workers: 8, ";
  using Said = std::vector<std::string>;
  CHECK(warned("{ persistent_workers: true, worker_start: 9 ms }") ==
        Said{"input.persistent_workers changes nothing: there is no input.dataset",
             "input.worker_start changes nothing: there is no input.dataset"});
  CHECK(warned("{" + dataset + "storage: local-nvme, storage_network: shared }") ==
        Said{"input.storage_network changes nothing: the storage lies in each node"});
  CHECK(warned("{" + dataset + "storage_network: shared }") ==
        Said{"input.storage_network changes nothing: there is no input.storage"});
  CHECK(warned("{" + dataset + "storage: aws-efs, storage_weight: 2 }") ==
        Said{"input.storage_weight changes nothing: storage has a network of its own"});
  CHECK(warned("{" + dataset + "epoch: first }") ==
        Said{"input.epoch changes nothing: there is no input.cache"});
  CHECK(warned("{" + dataset + "epoch: first, persistent_workers: true }").empty());
}
