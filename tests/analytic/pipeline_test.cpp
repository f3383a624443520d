// SPDX-License-Identifier: Apache-2.0
// Steps of pipelines against their closed forms: uniform stages, on links that carry nothing else.
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/metrics/measure.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr double link = 300e9;  // bytes a second, of nvswitch_node

/// Times of a rank's forward and backward pass of a micro-batch, and of its activations' transfer, in
/// milliseconds.
struct Times {
  double forward = 1;
  double backward = 2;
  double transfer = 0;
};

Scenario pipeline(Schedule schedule, int ranks, int chunks, int micro_batches, const Times& times) {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(ranks));
  scenario.platform.collectives = CollectiveRules::ideal;
  scenario.platform.gpu_models.front().ideal = true;
  const auto each = [&](double ms) { return Seconds{ms * 1e-3 / chunks}; };
  scenario.model.layers = synthetic({{.name = "block",
                                      .repeat = ranks * chunks,
                                      .forward = each(times.forward),
                                      .backward = each(times.backward),
                                      .parameters = 0,
                                      .output = Bytes{times.transfer * 1e-3 * link}}});
  scenario.model.optimizer_time = Seconds{};
  scenario.job.gpus = ranks;
  scenario.job.accumulate = micro_batches;
  scenario.job.strategy = NoExchange{};
  scenario.job.layout.pipeline = ranks;
  scenario.job.layout.chunks = chunks;
  scenario.job.layout.schedule = schedule;
  // Megatron receives each message by itself; for PyTorch see 'PyTorch receives in one order'.
  if (chunks > 1) scenario.job.framework = Framework::megatron;
  return scenario;
}

double step_ms(const Scenario& scenario, const char* engine) {
  return simulate(scenario, engine).measured.metrics.step_time.value() * 1e3;
}

Approx closed(double ms) {
  return Approx(ms).epsilon(tolerance::closed_form);
}

}  // namespace

TEST_CASE("GPipe and 1F1B without transfers have one ramp up and one ramp down", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto schedule = GENERATE(Schedule::gpipe, Schedule::one_f_one_b);
  const int p = GENERATE(2, 3, 8);
  const int m = GENERATE(1, 4, 16);
  CAPTURE(engine, name_of(schedule), p, m);
  CHECK(step_ms(pipeline(schedule, p, 1, m, {}), engine) == closed((m + p - 1) * 3));
}

TEST_CASE("chunks divide the bubble by their number", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto schedule = GENERATE(Schedule::interleaved, Schedule::looped_bfs);
  const int p = GENERATE(2, 4);
  const int v = GENERATE(2, 3);
  const int m = p * GENERATE(1, 3);
  CAPTURE(engine, name_of(schedule), p, v, m);
  CHECK(step_ms(pipeline(schedule, p, v, m, {}), engine) == closed(m * 3 + (p - 1) * 3.0 / v));
}

TEST_CASE("GPipe exposes transfers while it ramps up and down", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int p = GENERATE(2, 4, 8);
  const double x = 0.2;
  CHECK(step_ms(pipeline(Schedule::gpipe, p, 1, 8, {.transfer = x}), engine) ==
        closed((8 + p - 1) * 3 + 2 * (p - 1) * x));
}

TEST_CASE("1F1B pays a round trip to its neighbour for each micro-batch", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int p = GENERATE(2, 3, 4, 8);
  const int m = p * GENERATE(1, 2, 4);
  const double x = GENERATE(0.05, 0.5);
  CAPTURE(engine, p, m, x);
  const auto step = [&](Framework framework) {
    auto scenario = pipeline(Schedule::one_f_one_b, p, 1, m, {.transfer = x});
    scenario.job.framework = framework;
    return step_ms(scenario, engine);
  };
  const double without = (m + p - 1) * 3;
  // Receives wait on the GPU alone.
  CHECK(step(Framework::pytorch) == closed(without + x * (2.0 * (p - 1) * m / p + 2 * (p - 2))));
  // Both directions of an exchange run at once, and the CPU waits.
  CHECK(step(Framework::megatron) == closed(without + x * (p == 2 ? m + 1 : 2 * m + 2 * p - 5)));
  // Sends and receives run one by one.
  if (x < 0.3)
    CHECK(step(Framework::deepspeed) == closed(without + x * (p == 2 ? 2 * m : 4 * m + 2 * p - 8)));
}

TEST_CASE("chunks hide all transfers but those of the first micro-batch", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int p = GENERATE(2, 4);
  const int v = GENERATE(2, 3);
  const double x = 0.1;
  CHECK(step_ms(pipeline(Schedule::interleaved, p, v, 2 * p, {.transfer = x}), engine) ==
        closed(2 * p * 3 + (p - 1) * 3.0 / v + 2 * (p * v - 1) * x));
}

TEST_CASE("PyTorch receives in one order, and so the first micro-batch delays the others",
          "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // What PyTorch 2.11 plans for rank 0 of 2, two chunks each, 4 micro-batches: after its first pass it
  // receives the input of its first pass through the second chunk, which needs a pass of each rank.
  const Pipeline of_two{Schedule::interleaved, 2, 2};
  const Receives first{{}, {2}, {3}, {}, {5}, {}, {7}, {8}, {9}, {10}, {11}, {}, {12}, {13}, {14}, {15}};
  const Receives second{{0}, {1}, {2}, {4}, {6}, {7}, {8}, {9}, {10}, {}, {12}, {}, {14}, {}, {15}, {}};
  CHECK(planned_receives(of_two, 4) == std::vector<Receives>{first, second});

  // The lists of messages of PyTorch 2.11, played with passes of 0.5 and 1 ms by a program of its own. In any
  // order of messages, 4 ranks would take 28.5 ms.
  const auto [schedule, ranks, micro_batches, expected] =
      GENERATE(std::tuple{Schedule::interleaved, 4, 8, 35.0}, std::tuple{Schedule::interleaved, 2, 4, 13.5},
               std::tuple{Schedule::looped_bfs, 4, 8, 38.5});
  auto scenario = pipeline(schedule, ranks, 2, micro_batches, {});
  scenario.job.framework = Framework::pytorch;
  CHECK(step_ms(scenario, engine) == closed(expected));
}

TEST_CASE("receives that wait slow the passes beside them, and none begins before the optimizer has ended",
          "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  auto scenario = pipeline(Schedule::interleaved, 2, 2, 4, {.transfer = 0.01});
  scenario.job.framework = Framework::pytorch;
  scenario.platform.collectives = CollectiveRules::nccl;
  scenario.platform.gpu_models.front().ideal = false;  // so that the CPU issues the next step meanwhile
  scenario.model.optimizer_time = 10_ms;
  const auto undisturbed = step_ms(scenario, engine);
  scenario.calibration.contention = {{.transport = Transport::p2p,
                                      .precision = Precision::fp32,
                                      .kernel_slowdown = 1.5,
                                      .collective_slowdown = 1,
                                      .measured_on = "",
                                      .source = "test"}};
  const auto run = simulate(scenario, engine);
  CHECK(run.measured.metrics.step_time.value() * 1e3 > undisturbed + 1);
  int slowed = 0;
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const auto& origin = run.ops.ops()[i].origin;
    const auto lasts = (run.timeline.end[i] - run.timeline.start[i]).value() * 1e3;
    // beside it, the last gradients are sent, which takes 22 us
    if (origin.phase == Phase::optimizer && lasts > 0) CHECK(lasts == Approx(10).margin(0.022 / 2));
    if (origin.activity == Activity::kernel && origin.phase == Phase::forward && lasts > 0.6) ++slowed;
  }
  CHECK(slowed > 0);
}

TEST_CASE("gradients of parameters fill the bubble of ZB-H1", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int p = GENERATE(2, 4, 8);
  const int m = GENERATE(8, 16);
  // F = I = W = 1 ms
  CHECK(step_ms(pipeline(Schedule::zb_h1, p, 1, m, {}), engine) == closed(m * 3 + (p - 1) * 1));
}

TEST_CASE("a V schedule of two chunks exposes only the skew at its start", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int p = GENERATE(2, 4);
  const int m = 2 * p + GENERATE(0, 5);
  CAPTURE(engine, p, m);
  CHECK(step_ms(pipeline(Schedule::zb_v, p, 2, m, {}), engine) == closed(m * 3 + (p - 1) * 0.5));
  // With F = I = W of a chunk: 2 m (F + B) + (p - 1) (F&B + B - 3 W), of F&B = F + B.
  const double w = 0.5;
  CHECK(step_ms(pipeline(Schedule::dual_pipe_v, p, 2, m, {}), engine) ==
        closed(2 * m * 3 * w + (p - 1) * (3 * w + 2 * w - 3 * w)));
}

TEST_CASE("replicas of a pipeline take as long as one", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  auto scenario = pipeline(Schedule::one_f_one_b, 8, 1, 8, {.transfer = 0.2});
  scenario.model.layers.resize(4);
  scenario.job.layout.pipeline = 4;
  scenario.job.strategy = Ddp{};
  CHECK(step_ms(scenario, engine) == closed(11 * 3 + 0.2 * (2.0 * 3 * 8 / 4 + 2 * 2)));
}

TEST_CASE("of each wait the beginning counts, up to the given length", "[analytic][pipeline]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  // F = 1 ms, B = 2 ms: the first stage waits for 3 ms between its passes; the last for 1 ms before them, and
  // for 2 ms after them.
  const auto run = simulate(pipeline(Schedule::gpipe, 2, 1, 4, {}), engine);
  Lowered lowered;
  lowered.ops = run.ops;
  lowered.folding = run.folding;
  const auto shares = [&](Seconds at_most) {
    return idle_fractions(run.workload, lowered, run.timeline, run.window, at_most);
  };
  CHECK(shares(1_ms)[0] == Approx(1.0 / 3));
  CHECK(shares(1_ms)[1] == Approx(2.0 / 3));
  CHECK(shares(2_ms)[0] == Approx(2.0 / 3));
  CHECK(shares(2_ms)[1] == Approx(1));
  CHECK(shares(0_ms)[0] == 0);
}
