// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/run/simulate.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// 4 ranks, 50 GB/s, no latency: an all-reduce of S bytes takes 1.5 S / 50 GB/s. Layers of 100 MB: 3 ms.
constexpr double all_reduce_ms = 3;
Scenario layers_of(Seconds backward, int layers, Bytes cap) {
  return ring_scenario(4, {{"layer", layers, 1_ms, backward, 25000000}}, cap, 50_GBps, Seconds{});
}

double step_ms(const Scenario& scenario, const char* engine) {
  return simulate(scenario, engine).measured.metrics.step_time.value() * 1e3;
}

}  // namespace

TEST_CASE("a single bucket does not overlap: forward, backward and reduction run in turn", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto scenario = layers_of(2_ms, 6, 600_MB);
  CHECK(step_ms(scenario, engine) ==
        Approx(6 * 1 + 6 * 2 + 6 * all_reduce_ms).epsilon(tolerance::closed_form));
}

TEST_CASE("reductions faster than a layer are hidden except the last bucket", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto scenario = layers_of(5_ms, 6, 100_MB);
  CHECK(step_ms(scenario, engine) == Approx(6 * 1 + 6 * 5 + all_reduce_ms).epsilon(tolerance::closed_form));
}

TEST_CASE("reductions slower than a layer hide the backward pass except its first layer", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto scenario = layers_of(2_ms, 6, 100_MB);
  CHECK(step_ms(scenario, engine) == Approx(6 * 1 + 2 + 6 * all_reduce_ms).epsilon(tolerance::closed_form));
}

TEST_CASE("concurrent kernels and collectives are slower by the measured factors", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // Two layers of 6 ms backward, an all-reduce of the first of 4 ms alone beside the second, on an NVSwitch
  // whose links never bind. Kernels run 1.2, collectives 2 times slower together.
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(2));
  scenario.platform.gpu_models.front().ideal = true;
  scenario.model.layers = synthetic({{"layer", 2, 0_ms, 6_ms, 100000000}});
  scenario.model.optimizer_time = Seconds{};
  scenario.job.gpus = 2;
  std::get<Ddp>(scenario.job.strategy).bucket_cap = 400_MB;
  std::get<Ddp>(scenario.job.strategy).gradient_as_bucket_view = true;
  scenario.calibration.collectives = {{CollectiveKind::all_reduce, Transport::p2p, 2, 400_MB, 4_ms, "test"}};
  const auto alone = step_ms(scenario, engine);
  scenario.calibration.contention = {{.transport = Transport::p2p,
                                      .precision = Precision::fp32,
                                      .kernel_slowdown = 1.2,
                                      .collective_slowdown = 2,
                                      .measured_on = "",
                                      .source = "test"}};
  const auto together = step_ms(scenario, engine);

  // alone: 6, then the second layer of 6 hides the first all-reduce of 4, then the second all-reduce of 4
  CHECK(alone == Approx(6 + 6 + 4).epsilon(tolerance::closed_form));
  // Together: the collective pays its latency l alone, then needs 2 (4 - l) = 7.9 ms beside the kernel. The
  // kernel runs l at full speed, then 1.2 times slower: it ends at l + 1.2 (6 - l) = 7.19 ms, when the
  // collective still has (4 - l) - (7.19 - l) / 2 to go, at full speed. The second all-reduce then runs
  // alone.
  const double l = (8.4 + 2 * 3.4) * 1e-3;
  const double kernel = l + 1.2 * (6 - l);
  const double first = kernel + (4 - l) - (kernel - l) / 2;
  CHECK(together == Approx(6 + first + 4).epsilon(tolerance::closed_form));
}

TEST_CASE("two input copies behind one switch share its uplink", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // gpu0 and gpu1 of the tree share 25 GB/s: 250 MB each take 20 ms, after 2.6 us; the others get theirs in
  // 10 ms
  Scenario scenario;
  scenario.platform = built_platform(tree_node());
  scenario.platform.gpu_models.front().ideal = true;
  scenario.model.layers = synthetic({{"layer", 1, 0_ms, 0_ms, 0}});
  scenario.model.optimizer_time = Seconds{};
  scenario.model.input_per_sample = 250_MB;
  std::get<Ddp>(scenario.job.strategy).bucket_cap = 1_MB;
  scenario.job.gpus = GENERATE(1, 2);
  const double expected = 10.0 * scenario.job.gpus + 2.6e-3;
  CHECK(step_ms(scenario, engine) == Approx(expected).epsilon(tolerance::closed_form));
}
