// SPDX-License-Identifier: Apache-2.0
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "sim/run/simulate.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

LinkDescription with_rate(LinkDescription link) {
  const BytesPerSecond rate{1e9 * *rc::gen::element(5, 25, 25, 25)};
  link.forward = link.backward = rate;
  return link;
}

/// A node of 2 to 8 GPUs that hang unevenly on switches and sockets, with links of different rates.
NodeDescription random_node() {
  const auto switches = *rc::gen::inRange(1, 4);
  NodeDescription node;
  node.gpus = *rc::gen::inRange(2, 9);
  node.sockets = {{{"cpu0", {}}, 60_GBps}, {{"cpu1", {}}, 60_GBps}};
  node.links.push_back(link("cpu0", "cpu1", LinkKind::inter_socket, 10_GBps));
  for (int s = 0; s < switches; ++s) {
    const auto name = "plx" + std::to_string(s);
    node.pcie_switches.push_back({name, {}});
    node.links.push_back(with_rate(link(name, "cpu" + std::to_string(s % 2), LinkKind::pcie, 25_GBps)));
  }
  for (int g = 0; g < node.gpus; ++g) {
    const auto on = "plx" + std::to_string(*rc::gen::inRange(0, switches));
    node.links.push_back(with_rate(link("gpu" + std::to_string(g), on, LinkKind::pcie, 25_GBps)));
  }
  return node;
}

Scenario random_scenario() {
  Scenario scenario;
  scenario.platform = built_platform(random_node());
  scenario.model.layers =
      synthetic({{"layer", *rc::gen::inRange(1, 5), 1_ms, Seconds{1e-3 * *rc::gen::inRange(0, 5)},
                  *rc::gen::inRange(1, 3000000)}});
  scenario.model.optimizer_time = 1_ms;
  scenario.model.input_per_sample = Bytes{1e6 * *rc::gen::inRange(0, 100)};
  scenario.job.gpus = static_cast<int>(scenario.platform.gpus.size());
  std::get<Ddp>(scenario.job.strategy).bucket_cap = Bytes{1e6 * *rc::gen::inRange(1, 20)};
  std::get<Ddp>(scenario.job.strategy).comm_hook =
      *rc::gen::element(CommHook::none, CommHook::bf16, CommHook::powersgd);
  scenario.job.input.pin_memory = *rc::gen::arbitrary<bool>();
  scenario.job.input.background_copy = Bytes{1e6 * *rc::gen::inRange(0, 300)};
  scenario.job.steps = *rc::gen::inRange(1, 3);
  if (*rc::gen::arbitrary<bool>()) scenario.job.nccl = {{"NCCL_P2P_DISABLE", "1"}};
  for (const auto transport : {Transport::p2p, Transport::shm}) {
    scenario.calibration.contention.push_back({.transport = transport,
                                               .precision = Precision::fp32,
                                               .kernel_slowdown = 1.2,
                                               .collective_slowdown = 1.7,
                                               .measured_on = "",
                                               .source = "test"});
  }
  return scenario;
}

bool near(double a, double b, double scale) {
  return std::abs(a - b) <= 1e-9 * scale;
}

}  // namespace

TEST_CASE("folding changes only the cost of a simulation") {
  rc::prop("folded and unfolded runs agree to 1e-9", [] {
    const auto scenario = random_scenario();
    const auto folded = simulate(scenario, "fluid", FoldRanks::yes);
    const auto whole = simulate(scenario, "fluid", FoldRanks::no);
    const auto& a = folded.measured.metrics;
    const auto& b = whole.measured.metrics;
    const auto scale = b.step_time.value();
    RC_ASSERT(near(a.step_time.value(), b.step_time.value(), scale));
    RC_ASSERT(near(a.compute.value(), b.compute.value(), scale));
    RC_ASSERT(near(a.exposed_communication.value(), b.exposed_communication.value(), scale));
    RC_ASSERT(near(a.input_wait.value(), b.input_wait.value(), scale));
    RC_ASSERT(folded.measured.links.size() == whole.measured.links.size());
    for (std::size_t i = 0; i < whole.measured.links.size(); ++i) {
      RC_ASSERT(near(folded.measured.links[i].busy_fraction, whole.measured.links[i].busy_fraction, 1));
    }
    // Every rank's ops end when its representative's do.
    std::map<std::tuple<int, int, int, int>, double> ends;
    for (std::size_t i = 0; i < folded.ops.size(); ++i) {
      const auto& o = folded.ops.op(OpId{i}).origin;
      ends[{o.actor, o.step, o.task, static_cast<int>(o.activity)}] = folded.timeline.end[i].value();
    }
    for (std::size_t i = 0; i < whole.ops.size(); ++i) {
      const auto& o = whole.ops.op(OpId{i}).origin;
      const auto rank =
          o.actor < 0 ? o.actor
                      : static_cast<int>(
                            folded.folding.actor_representative[static_cast<std::size_t>(o.actor)].index());
      const auto end = ends.find({rank, o.step, o.task, static_cast<int>(o.activity)});
      // Ranks of which one is simulated need no mark where they meet.
      if (end == ends.end() && o.activity == Activity::marker) continue;
      RC_ASSERT(end != ends.end());
      RC_ASSERT(near(end->second, whole.timeline.end[i].value(), scale));
    }
  });
}
