// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <numeric>
#include <tuple>

#include "sim/compute/compute_costs.hpp"
#include "sim/engine/engine.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/intervals.hpp"
#include "sim/metrics/measure.hpp"
#include "sim/metrics/utilisation.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/workloads.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Measured measured(const Scenario& scenario) {
  const auto workload = plan(scenario, compute_costs(scenario));
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario});
  const auto timeline = choose_engine("fluid").engine->run(scenario.platform, lowered.ops);
  return measure(scenario, workload, lowered, timeline, step_windows(workload, lowered.ops, timeline).back());
}

Seconds parts(const Metrics& m) {
  return m.compute + m.optimizer + m.exposed_communication + m.input_wait + m.launch_bound + m.idle;
}

}  // namespace

TEST_CASE("each moment belongs to the most important thing under way") {
  const std::vector<Interval> intervals{{0_ms, 4_ms, 1}, {2_ms, 6_ms, 0}, {5_ms, 9_ms, 2}, {12_ms, 13_ms, 1}};
  const auto time = split_time(intervals, 3, 1_ms, 12.5_ms);
  CHECK(time[0].value() == Approx(4e-3));
  CHECK(time[1].value() == Approx(1e-3 + 0.5e-3));
  CHECK(time[2].value() == Approx(3e-3));
  CHECK(time[3].value() == Approx(3e-3));
  CHECK(covered(intervals, 0_ms, 20_ms).value() == Approx(10e-3));
}

TEST_CASE("the parts of a step add up to the step") {
  auto scenario = ring_scenario(GENERATE(1, 2, 8), {{"layer", 6, 1_ms, 2_ms, 12500000}}, 50_MB);
  scenario.job.steps = GENERATE(1, 3);
  scenario.model.optimizer_time = 5_ms;
  const auto m = measured(scenario).metrics;
  CHECK(parts(m).value() == Approx(m.step_time.value()));
  CHECK(m.compute.value() == Approx(18e-3));
  CHECK(m.optimizer.value() == Approx(5e-3));
  CHECK(m.steps_per_s * m.step_time.value() == Approx(1));
}

TEST_CASE("communication that kernels hide is not exposed") {
  // 4 GPUs: an all-reduce of 50 MB takes 1.5 x 1 ms + 6 x 0.5 us; it hides behind the next layer's backward
  // pass of 2 ms, but for the last one
  const auto m = measured(ring_scenario(4, {{"layer", 6, 1_ms, 2_ms, 12500000}}, 50_MB)).metrics;
  const double one = 1.5e-3 + 3e-6;
  CHECK(m.communication.value() == Approx(6 * one));
  CHECK(m.exposed_communication.value() == Approx(one));
  CHECK(m.collectives == 6);
  CHECK(m.bytes_sent_per_gpu.value() == Approx(6 * 1.5 * 50e6));
}

TEST_CASE("several steps report the steady state, not the first step, which waits for its batch") {
  // Samples are decoded in 2 ms, 4 to a batch: the first batch takes 8 ms. Then 8 workers are ahead of steps
  // of 18 ms and an all-reduce that nothing hides.
  auto scenario = ring_scenario(4, {{"layer", 6, 1_ms, 2_ms, 12500000}}, 50_MB);
  scenario.job.batch_per_gpu = 4;
  scenario.job.steps = 4;
  scenario.job.input.worker_start = {};
  Dataset dataset;
  dataset.samples = 1e6;
  dataset.cpu.decode = 2_ms;
  scenario.job.input.dataset = dataset;
  const double step = 18e-3 + 1.5e-3 + 3e-6;

  const auto workload = plan(scenario, compute_costs(scenario));
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario});
  const auto timeline = choose_engine("fluid").engine->run(scenario.platform, lowered.ops);
  const auto windows = step_windows(workload, lowered.ops, timeline);

  REQUIRE(windows.size() >= 4);
  CHECK(windows.front().each().value() == Approx(8e-3 + step));
  for (std::size_t i = 1; i < windows.size(); ++i) CHECK(windows[i].each().value() == Approx(step));
  CHECK(measured(scenario).metrics.step_time.value() == Approx(step));
}

TEST_CASE("links report what they carried over what they could have") {
  const auto all = measured(ring_scenario(4, {{"tensor", 1, 0_ms, 0_ms, 12500000}}, 50_MB));
  REQUIRE(all.links.size() == 4);
  CHECK(all.links.front().bytes.value() == Approx(75e6));
  CHECK(all.links.front().busy_fraction == Approx(1.5e-3 / (1.5e-3 + 3e-6)));
  const auto found = std::get<bottleneck::Communication>(all.bottleneck);
  CHECK(found.sent.value() == Approx(75e6));
  CHECK(std::get<bottleneck::FullLink>(found.limit) == bottleneck::FullLink{all.links.front().name, false});
}

TEST_CASE("many small steps are bound by latency") {
  const auto all = measured(ring_scenario(64, {{"tensor", 1, 0_ms, 0_ms, 1000}}, 50_MB));
  const auto limit = std::get<bottleneck::Communication>(all.bottleneck).limit;
  CHECK(std::get<bottleneck::Latency>(limit).busiest == all.links.front().name);
  CHECK_FALSE(std::get<bottleneck::Latency>(limit).of_collectives);
}

TEST_CASE("a step that takes no time has no shares, and says so") {
  const auto all = measured(ring_scenario(1, {{"tensor", 1, 0_ms, 0_ms, 1000}}, 50_MB));
  CHECK(all.metrics.step_time == Seconds{});
  CHECK(all.metrics.gpu_busy_fraction == 0);
  CHECK(all.metrics.tflops_per_gpu == 0);
  CHECK(all.bottleneck == Bottleneck{bottleneck::EmptyStep{}});
}

TEST_CASE("a step of kernels is bound by kernels") {
  const auto all = measured(ring_scenario(4, {{"layer", 6, 10_ms, 20_ms, 1000}}, 50_MB));
  CHECK(std::get<bottleneck::Kernels>(all.bottleneck).gpu == "ideal");
}

TEST_CASE("a model of text trains on tokens, others do not") {
  auto scenario = ring_scenario(4, {{"layer", 1, 50_ms, 50_ms, 0}}, 50_MB);
  scenario.job.batch_per_gpu = 25;
  CHECK_FALSE(measured(scenario).metrics.tokens_per_s.has_value());
  scenario.model.tokens_per_sample = 1024;
  const auto m = measured(scenario).metrics;  // 100 samples of 1024 tokens in 0.1 s
  CHECK(m.samples == 100);
  CHECK(*m.tokens_per_s == Approx(1024000));
}

TEST_CASE("MFU is the model's work of both passes over the time and the peak, without recomputation") {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(4));
  set_forward_pass(scenario.model, [](Eager& run) {
    auto x = run.embedding("e", 64, 1, 4096);
    x = run.linear("fc", x, 64, 4096, 4096);
    run.attention("sdpa", {x}, {32, 32, 64, 128, true, false});
  });
  scenario.job.gpus = 4;
  scenario.job.batch_per_gpu = 8;
  scenario.job.accumulate = 2;
  const auto precision = GENERATE(Precision::fp32, Precision::bf16);
  scenario.job.precision = precision;
  scenario.platform.gpu_models.front().peak[static_cast<std::size_t>(Precision::bf16)] =
      FlopsPerSecond{400e12};
  const auto peak = precision == Precision::bf16 ? 400e12 : 100e12;
  const auto m = measured(scenario).metrics;

  // A product of m x k by k x n takes 2 m k n forward and twice that backward; the causal half of the scores
  // and of what they weigh takes 2 x 2 s^2 h / 2 forward, and fused attention 2.5 times that backward, of
  // which 0.5 are scores computed again.
  const double a_sample = 3 * (2.0 * 64 * 4096 * 4096) + 3 * (2.0 * 64 * 64 * 4096);
  const auto rate = 8 * 2 * a_sample / m.step_time.value();
  CHECK(m.tflops_per_gpu == Approx(rate / 1e12));
  CHECK(*m.mfu == Approx(rate / peak));
}

TEST_CASE("what a GPU twice as fast does is held against twice the peak, and an ideal GPU has none") {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(4));
  CHECK(peak_of(scenario)->value() == 100e12);
  scenario.platform.speeds[HardwarePart::gpu] = 2;
  CHECK(peak_of(scenario)->value() == 200e12);
  scenario.platform.gpu_models.front().ideal = true;
  CHECK_FALSE(peak_of(scenario).has_value());
  CHECK_FALSE(measured(ring_scenario(1, {{"layer", 1, 1_ms, 1_ms, 0}}, 50_MB)).metrics.mfu.has_value());
}

TEST_CASE("a profile counts no more for its backward pass than twice its forward pass") {
  Model model;
  Profile profile;
  profile.batch = 2;
  using enum ProfiledPhase;
  const auto add = [&](ProfiledPhase phase, KernelClass kind, double flops) {
    auto& launch = profile.launches.emplace_back();
    launch.phase = phase;
    launch.kind = kind;
    launch.flops = Flops{flops};
  };
  add(forward, KernelClass::attention, 100);
  add(backward, KernelClass::attention, 250);
  add(forward, KernelClass::matrix, 1000);
  add(backward, KernelClass::matrix, 1900);
  add(optimizer, KernelClass::matrix, 7);
  model.profile = std::make_shared<const Profile>(profile);
  CHECK(model_flops_per_sample(model).value() == Approx((300 + 2900) / 2.0));
}

TEST_CASE("the price of an hour becomes the price of a million samples") {
  auto scenario = ring_scenario(4, {{"layer", 1, 50_ms, 50_ms, 0}}, 50_MB);
  scenario.platform.price = Price{UsdPerHour{36}, "here", "2026", "test"};
  scenario.job.batch_per_gpu = 25;
  const auto m = measured(scenario).metrics;  // 100 samples in 0.1 s: 1000 a second, for a cent a second
  CHECK(m.cost_per_hour->value() == 36);
  CHECK(*m.cost_usd_per_million_samples == Approx(10));
}

TEST_CASE("whole nodes are paid, but only those that are used") {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(4), 3, star_fabric());
  scenario.platform.gpu_models.front().ideal = true;
  scenario.platform.price = Price{UsdPerHour{10}, "here", "2026", "test"};
  scenario.model.layers = synthetic({{"layer", 1, 1_ms, 1_ms, 1000}});
  scenario.model.optimizer_time = Seconds{};
  const auto cost = [&](int gpus) {
    scenario.job.gpus = gpus;
    return measured(scenario).metrics.cost_per_hour->value();
  };
  CHECK(cost(1) == 10);
  CHECK(cost(4) == 10);
  CHECK(cost(5) == 20);
  CHECK(cost(12) == 30);
}

TEST_CASE("memory counts parameters, gradients, activations, buckets and the optimizer's state") {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(4));
  set_forward_pass(scenario.model, vision_transformer({224, 32, 24, 16, 1024, 4096, 1000}));
  scenario.job.batch_per_gpu = 32;
  scenario.job.strategy = NoExchange{};
  scenario.job.zero_grad = ZeroGrad::before_backward;  // as the loop that was measured
  const auto peak = [&] {
    const auto use = memory_use(scenario, compute_costs(scenario).memory, *make_sync(scenario));
    return std::max(use.allocated(), use.in(RunPart::rebuilt_buckets));  // the peak of a whole run
  };
  const auto alone = peak();
  CHECK(alone.value() == Approx(5.32e9).epsilon(0.05));  // measured on an H200: 5.32 GB
  scenario.job.strategy = Ddp{};
  CHECK(peak().value() == Approx(7.73e9).epsilon(0.05));  // measured: 7.73 GB
  std::get<Ddp>(scenario.job.strategy).gradient_as_bucket_view = true;
  CHECK(peak().value() == Approx(6.56e9).epsilon(0.05));  // measured: 6.56 GB
  scenario.job.optimizer = Optimizer::adamw;
  // Two moments of each parameter, and two sets of buckets instead of gradients of their own.
  CHECK((peak() - alone).value() == Approx(3 * 4 * 306535400.0).epsilon(0.01));
}

TEST_CASE("channels that no link bounds are named by what they copy through") {
  Scenario scenario;
  scenario.platform = built_platform(tree_node());
  scenario.platform.gpu_models.front().ideal = true;
  scenario.model.layers = synthetic({{"layer", 1, 1_ms, 1_ms, 100000000}});
  scenario.model.optimizer_time = Seconds{};
  scenario.job.gpus = 6;
  const auto over = [&](Transport transport, Seconds time) {
    scenario.calibration.collectives = {{CollectiveKind::all_reduce, transport, 6, 400_MB, time, "made up"}};
    return std::get<bottleneck::Communication>(measured(scenario).bottleneck).limit;
  };
  const auto part = [&](Transport transport) {
    return std::get<bottleneck::Channels>(over(transport, 500_ms)).part;
  };
  const auto shm = std::get<bottleneck::Channels>(over(Transport::shm, 500_ms));
  CHECK(shm.part == HardwarePart::host_memory);
  CHECK(shm.transport == "SHM");
  // Two GPUs below one switch.
  scenario.job.gpus = 2;
  CHECK(part(Transport::p2p) == HardwarePart::pcie);
  scenario.platform = built_platform(nvswitch_node(4));
  scenario.platform.gpu_models.front().ideal = true;
  scenario.job.gpus = 4;
  CHECK(part(Transport::p2p) == HardwarePart::nvlink);
  scenario.platform = built_platform(nvswitch_node(2), 2, star_fabric());
  scenario.platform.gpu_models.front().ideal = true;
  CHECK(part(Transport::net) == HardwarePart::network);
  // Next to nothing to send: nothing but the latencies of the steps.
  scenario.model.layers = synthetic({{"layer", 1, 1_us, 1_us, 100}});
  CHECK(std::holds_alternative<bottleneck::Latency>(over(Transport::net, 500_ms)));
}

TEST_CASE("each program has parts of its own, and the one that ends the step has the headline") {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(2));
  scenario.platform.collectives = CollectiveRules::ideal;
  scenario.job.gpus = 2;
  Workload workload;
  workload.programs = {
      program("first", {kernel("forward", 2_ms), call(CollectiveKind::send_recv, 300_MB, 0, {TaskId{0}})}),
      program("second", {call(CollectiveKind::send_recv, 300_MB, 0), kernel("forward", 3_ms, {TaskId{0}})})};
  workload.programs[0].memory.parameters = 5_GB;
  workload.programs[0].samples = 8;
  add_rank(workload, scenario.platform, 0);
  add_rank(workload, scenario.platform, 1);
  add_group(workload, "stages", {0, 1});
  check(workload);
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario});
  const auto timeline = choose_engine("fluid").engine->run(scenario.platform, lowered.ops);
  const auto measured =
      measure(scenario, workload, lowered, timeline, step_windows(workload, lowered.ops, timeline).back());
  REQUIRE(measured.by_program.size() == 2);
  const auto& [first, second] = std::tie(measured.by_program[0].parts, measured.by_program[1].parts);
  CHECK(first.compute.value() == Approx(2e-3));
  CHECK(first.exposed_communication.value() == Approx(1e-3));
  CHECK(first.idle.value() == Approx(3e-3));  // behind its work: the bubble
  CHECK(second.compute.value() == Approx(3e-3));
  CHECK(second.exposed_communication.value() == Approx(1e-3));
  CHECK(second.idle.value() == Approx(2e-3));
  CHECK(measured.program == ProgramId{1});
  CHECK(measured.metrics.step_time.value() == Approx(6e-3));
  CHECK(measured.metrics.compute.value() == Approx(3e-3));
  CHECK(measured.metrics.bytes_sent_per_gpu == 300_MB);
  CHECK(measured.metrics.samples_per_s == Approx(8 / 6e-3));
  CHECK(measured.memory.parameters == 5_GB);
}
