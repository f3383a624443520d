// SPDX-License-Identifier: Apache-2.0
// The hooks of a model's step, called with an invented strategy.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/plan/model_step.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// Gathers each layer's parameters before use and reduces its gradients, like sharding.
class Gathering final : public Sync {
 public:
  void before_step(TaskList&) override { asked.emplace_back("step"); }
  void before_forward(TaskList& tasks, Module module) override { gather(tasks, "forward", module); }
  void before_backward(TaskList& tasks, Module module) override { gather(tasks, "backward", module); }
  void after_forward(TaskList&, Module module) override { leave("forward", module); }
  void after_backward(TaskList&, Module module) override { leave("backward", module); }
  void gradients_ready(TaskList&, std::size_t count, const Task& of, bool is_last) override {
    asked.push_back(fmt::format("{} gradients of {}{}", count, of.layer, is_last ? ", last" : ""));
  }
  void before_optimizer(TaskList&) override { asked.emplace_back("optimizer"); }
  SyncMemory memory() const override { return {.buckets = 7_MB}; }

  std::vector<std::string> asked;

 private:
  void gather(TaskList& tasks, const char* where, Module module) {
    if (module.kind != Module::Kind::layer) return asked.push_back(fmt::format("{} of the model", where));
    asked.push_back(fmt::format("{} {}", where, module.index));
    tasks.kernel(fmt::format("gather {}", module.index), Phase::communication, 1_us, 1);
  }
  void leave(const char* where, Module module) {
    if (module.kind == Module::Kind::model) asked.push_back(fmt::format("after {}", where));
  }
};

Scenario two_layers() {
  auto scenario = ring_scenario(2, {{"layer", 2, 1_ms, 2_ms, 1000}}, 1_MB);
  scenario.model.input_per_sample = 1_MB;
  return scenario;
}

std::vector<std::string> names(const Program& program) {
  std::vector<std::string> all;
  for (const auto& task : program.tasks) all.push_back(task.name);
  return all;
}

}  // namespace

TEST_CASE("a strategy is called before each layer, when gradients are ready and before the optimizer") {
  auto scenario = two_layers();
  Gathering sync;
  const auto program = model_step(scenario, compute_costs(scenario), sync);
  CHECK(sync.asked == std::vector<std::string>{"step", "forward of the model", "forward 0", "forward 1",
                                               "after forward", "backward of the model", "backward 1",
                                               "1 gradients of 1, last", "backward 0",
                                               "1 gradients of 0, last", "after backward", "optimizer"});
  const auto layers = scenario.model.layers;
  CHECK(names(program) == std::vector<std::string>{"input copy", "gather 0", layers[0].name, "gather 1",
                                                   layers[1].name, "gather 1", layers[1].name, "gather 0",
                                                   layers[0].name, "optimizer"});
  CHECK(program.memory.buckets == 7_MB);
}

TEST_CASE("a strategy knows which micro-batch is the last") {
  auto scenario = two_layers();
  scenario.job.accumulate = 2;
  Gathering sync;
  model_step(scenario, compute_costs(scenario), sync);
  CHECK(std::ranges::count(sync.asked, "1 gradients of 0") == 1);
  CHECK(std::ranges::count(sync.asked, "1 gradients of 0, last") == 1);
  CHECK(std::ranges::count(sync.asked, "forward 0") == 2);
  CHECK(std::ranges::count(sync.asked, "optimizer") == 1);
}
