// SPDX-License-Identifier: Apache-2.0
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "sim/run/simulate.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// A random DDP job of synthetic layers on a ring.
Scenario random_scenario() {
  const auto ranks = *rc::gen::inRange(1, 9);
  std::vector<SyntheticLayer> layers;
  const auto count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    layers.push_back({"layer" + std::to_string(i), *rc::gen::inRange(1, 4),
                      Seconds{1e-6 * *rc::gen::inRange(0, 2000)}, Seconds{1e-6 * *rc::gen::inRange(0, 4000)},
                      *rc::gen::inRange(0, 30000000)});
  }
  auto scenario = ring_scenario(ranks, layers, Bytes{1e6 * *rc::gen::inRange(1, 200)});
  scenario.job.steps = *rc::gen::inRange(1, 3);
  scenario.job.accumulate = *rc::gen::inRange(1, 3);
  return scenario;
}

double step(const Scenario& scenario) {
  return simulate(scenario, "fluid").measured.metrics.step_time.value();
}

void scale_times(Scenario& scenario, double factor) {
  for (auto& layer : scenario.model.layers) {
    layer.forward.time = *layer.forward.time * factor;
    layer.backward.time = *layer.backward.time * factor;
  }
  for (auto& link : scenario.platform.links) link.latency = link.latency * factor;
  for (auto& resource : scenario.platform.resources) {
    if (resource.kind == ResourceKind::link) resource.capacity /= factor;
  }
}

}  // namespace

TEST_CASE("a step is never shorter than its kernels in a row, nor than its bytes over the slowest link") {
  rc::prop("lower bounds hold", [] {
    const auto scenario = random_scenario();
    const auto m = simulate(scenario, "fluid").measured.metrics;
    double kernels = 0;
    for (const auto& layer : scenario.model.layers)
      kernels += layer.forward.time->value() + layer.backward.time->value();
    RC_ASSERT(m.step_time.value() >= kernels * scenario.job.accumulate * (1 - 1e-12));
    RC_ASSERT(m.step_time.value() >= m.bytes_sent_per_gpu.value() / 50e9 * (1 - 1e-12));
  });
}

TEST_CASE("slowing all hardware down by a factor slows the step by that factor") {
  rc::prop("time scales", [] {
    auto scenario = random_scenario();
    const auto before = step(scenario);
    scale_times(scenario, 3);
    const auto after = step(scenario);
    RC_ASSERT(std::abs(after - 3 * before) <= 1e-9 * after + 1e-15);
  });
}

TEST_CASE("gradients leave each rank once: 2(n-1)/n of the parameters, whatever the buckets") {
  rc::prop("bytes are conserved", [] {
    const auto scenario = random_scenario();
    const auto m = simulate(scenario, "fluid").measured.metrics;
    const double n = scenario.job.gpus;
    const double expected = 2 * (n - 1) / n * 4 * static_cast<double>(scenario.model.parameter_count());
    RC_ASSERT(std::abs(m.bytes_sent_per_gpu.value() - expected) <= 1e-9 * expected);
  });
}

TEST_CASE("runs are independent, and both engines agree") {
  rc::prop("runs are functions", [] {
    const auto scenario = random_scenario();
    const auto first = simulate(scenario, "fluid");
    const auto other = simulate(scenario, "simgrid");
    const auto again = simulate(scenario, "fluid");
    RC_ASSERT(first.timeline.end == again.timeline.end);
    for (std::size_t i = 0; i < first.timeline.end.size(); ++i) {
      const auto a = first.timeline.end[i].value();
      const auto b = other.timeline.end[i].value();
      RC_ASSERT(std::abs(a - b) <= 1e-9 * first.timeline.makespan().value());
    }
  });
}
