// SPDX-License-Identifier: Apache-2.0
// Steps of which a few micro-batches are simulated measure the same as whole ones.
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr double same = 1e-9;

/// Everything that is measured of a run, in one order. Times of parts count relative to the step.
std::vector<std::pair<std::string, double>> figures(const Run& run) {
  const auto& m = run.measured.metrics;
  const auto step = m.step_time.value();
  std::vector<std::pair<std::string, double>> all{{"step", step * 1e3},
                                                  {"issue", m.issue / m.step_time},
                                                  {"samples", m.samples},
                                                  {"collectives", static_cast<double>(m.collectives)},
                                                  {"sent", m.bytes_sent_per_gpu.value()},
                                                  {"memory", m.peak_memory.value()},
                                                  {"bubble", m.bubble.value_or(Seconds{}) / m.step_time},
                                                  {"low", run.range.low / m.step_time},
                                                  {"high", run.range.high / m.step_time},
                                                  {"links", static_cast<double>(run.measured.links.size())}};
  for (const auto& program : run.measured.by_program) {
    const auto& parts = program.parts;
    for (const auto time : {parts.compute, parts.communication, parts.exposed_communication, parts.input_wait,
                            parts.optimizer, parts.launch_bound, parts.idle})
      all.emplace_back(program.name, time / m.step_time);
    for (const auto time : parts.exposed) all.emplace_back(program.name + " exposed", time / m.step_time);
    all.emplace_back(program.name + " memory", program.memory.needed().value());
  }
  for (const auto& link : run.measured.links) all.emplace_back("busy", link.busy_fraction);
  for (const auto& [resource, bytes] : run.measured.carried) all.emplace_back("carried", bytes.value());
  return all;
}

Run folded(const Scenario& scenario, const char* engine = "fluid") {
  return simulate(scenario, engine, FoldRanks::yes, {}, FoldMicroBatches::yes);
}

Run whole(const Scenario& scenario) {
  return simulate(scenario, "fluid", FoldRanks::yes, {}, FoldMicroBatches::no);
}

bool is_folded(const Run& run) {
  return run.window.repeated.left_out > 0;
}

/// @return the first figure that differs, or nothing
std::string difference(const Run& long_one, const Run& short_one) {
  const auto expected = figures(long_one);
  const auto found = figures(short_one);
  if (expected.size() != found.size()) return "number of figures";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto slack = same * std::max(1.0, std::abs(expected[i].second));
    if (std::abs(expected[i].second - found[i].second) > slack)
      return expected[i].first + ": " + std::to_string(expected[i].second) + ", " +
             std::to_string(found[i].second);
  }
  return long_one.measured.bottleneck.index() == short_one.measured.bottleneck.index() ? "" : "bottleneck";
}

/// One for each stage; often all alike.
std::vector<SyntheticLayer> random_layers(int stages) {
  std::vector<SyntheticLayer> layers;
  const bool are_alike = *rc::gen::arbitrary<bool>();
  for (int i = 0; i < stages; ++i) {
    if (are_alike && i > 0) {
      layers.push_back(layers.front());
      continue;
    }
    layers.push_back({.name = "block" + std::to_string(i),
                      .repeat = 1,
                      .forward = Seconds{1e-4 * *rc::gen::inRange(1, 30)},
                      .backward = Seconds{1e-4 * *rc::gen::inRange(1, 60)},
                      .parameters = 1000 * *rc::gen::inRange(1, 1000),
                      .output = Bytes{1e5 * *rc::gen::inRange(0, 2000)}});
  }
  return layers;
}

/// A pipeline of random stages, links and number of micro-batches. Its kernels may cost launches.
Scenario random_pipeline() {
  Scenario scenario;
  auto& job = scenario.job;
  auto& layout = job.layout;
  layout.schedule =
      *rc::gen::element(Schedule::one_f_one_b, Schedule::interleaved, Schedule::zb_h1, Schedule::zb_v,
                        Schedule::dual_pipe_v, Schedule::gpipe, Schedule::looped_bfs);
  layout.pipeline = *rc::gen::inRange(2, 5);
  const bool has_two = layout.schedule == Schedule::zb_v || layout.schedule == Schedule::dual_pipe_v;
  const bool has_many = layout.schedule == Schedule::interleaved || layout.schedule == Schedule::looped_bfs;
  layout.chunks = has_two ? 2 : has_many ? *rc::gen::inRange(2, 4) : 1;
  const int replicas = *rc::gen::element(1, 2);
  job.gpus = layout.pipeline * replicas;
  job.accumulate = layout.schedule == Schedule::interleaved ? layout.pipeline * *rc::gen::inRange(3, 30)
                                                            : *rc::gen::inRange(12, 80);
  if (layout.schedule == Schedule::interleaved) {
    job.framework = *rc::gen::element(Framework::pytorch, Framework::megatron);
  } else if (layout.schedule == Schedule::one_f_one_b) {
    job.framework = *rc::gen::element(Framework::pytorch, Framework::megatron, Framework::deepspeed);
  }
  if (replicas == 1) {
    job.strategy = NoExchange{};
  } else if (*rc::gen::arbitrary<bool>()) {
    job.strategy = DistributedOptimizer{};
  } else {
    job.strategy = Ddp{};
  }
  auto node = nvswitch_node(job.gpus);
  node.links[0].forward = node.links[0].backward = BytesPerSecond{1e9 * *rc::gen::inRange(20, 300)};
  scenario.platform = built_platform(node);
  if (*rc::gen::arbitrary<bool>()) scenario.platform.collectives = CollectiveRules::ideal;
  scenario.platform.gpu_models.front().ideal = *rc::gen::arbitrary<bool>();
  scenario.model.layers = synthetic(random_layers(layout.pipeline * layout.chunks));
  scenario.model.optimizer_time = 1_ms;
  scenario.calibration.contention.push_back({.transport = Transport::p2p,
                                             .precision = Precision::fp32,
                                             .kernel_slowdown = 1.1,
                                             .collective_slowdown = 1.3,
                                             .measured_on = "",
                                             .source = "test"});
  return scenario;
}

Scenario loaded(const std::string& name, const std::vector<Override>& set) {
  return load_scenario(name, set, DataPath{{GRADWAY_SOURCE_DIR}});
}

}  // namespace

TEST_CASE("a few micro-batches of a random pipeline measure the same as all of them") {
  int of_all = 0;
  int with_fewer = 0;
  rc::prop("all figures agree to 1e-9", [&] {
    const auto scenario = random_pipeline();
    const auto short_one = folded(scenario);
    ++of_all;
    if (!is_folded(short_one)) return;
    ++with_fewer;
    RC_LOG() << name_of(scenario.job.layout.schedule) << ", " << scenario.job.accumulate
             << " micro-batches\n";
    const auto long_one = whole(scenario);
    RC_ASSERT(!is_folded(long_one));
    const auto differs = difference(long_one, short_one);
    RC_LOG() << differs << "\n";
    RC_ASSERT(differs.empty());
  });
  // Others settle slowly, have too few micro-batches, or run all forward passes first: they are simulated
  // whole.
  CHECK(with_fewer * 10 > of_all);
}

TEST_CASE("a few micro-batches of real models measure the same as all of them") {
  struct Job {
    const char* name;
    std::vector<Override> set;
  };
  const std::vector<Override> llama{{"model", "llama2_7b"},    {"platform", "dgx-h100"},
                                    {"job.precision", "bf16"}, {"job.batch_per_gpu", "1"},
                                    {"job.sequence", "2048"},  {"job.recompute", "none"},
                                    {"job.accumulate", "48"}};
  const auto with = [&](std::vector<Override> more) {
    more.insert(more.begin(), llama.begin(), llama.end());
    return more;
  };
  const Job job = GENERATE_COPY(values<Job>({
      {"layouts/gpt3_175b", {}},
      {"layouts/llama3_70b", {{"job.accumulate", "96"}}},
      {"layouts/llama3_70b",
       {{"job.accumulate", "60"}, {"parallel.virtual", "1"}, {"parallel.schedule", "1f1b"}}},
      {"sharded/llama2_7b", with({{"strategy", "{kind: fsdp}"}, {"job.gpus", "8"}})},
      {"sharded/llama2_7b", with({{"strategy", "{kind: zero, stage: 2}"}, {"job.framework", "deepspeed"}})},
      {"sharded/llama2_7b", with({{"strategy", "{kind: ddp}"}, {"job.gpus", "16"}})},
      {"sharded/llama2_7b", with({{"strategy", "{kind: fsdp}"},
                                  {"job.gpus", "8"},
                                  {"parallel.pipeline", "2"},
                                  {"parallel.schedule", "1f1b"}})},
  }));
  CAPTURE(job.name, job.set.empty() ? "" : job.set.back().key, job.set.size() > 7 ? job.set[7].value : "");
  const auto scenario = loaded(job.name, job.set);
  const auto short_one = folded(scenario);
  CHECK(is_folded(short_one));
  CHECK(difference(whole(scenario), short_one) == "");
}

TEST_CASE("both engines find what repeats") {
  const auto scenario = loaded("layouts/llama3_70b", {{"job.accumulate", "96"}, {"job.gpus", "32"}});
  const auto short_one = folded(scenario, "simgrid");
  CHECK(is_folded(short_one));
  CHECK(difference(folded(scenario), short_one) == "");
}

TEST_CASE("all ranks are simulated with all micro-batches") {
  const auto scenario = loaded("layouts/llama3_70b", {{"job.accumulate", "64"}, {"job.gpus", "32"}});
  const auto run = simulate(scenario, "fluid", FoldRanks::no, {}, FoldMicroBatches::yes);
  CHECK(!is_folded(run));
}
