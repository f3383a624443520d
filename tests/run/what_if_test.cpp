// SPDX-License-Identifier: Apache-2.0
// A scenario's `faster` against closed forms, and against platforms and calibrations that were changed by
// hand.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/config/config.hpp"
#include "sim/platform/with_speeds.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/facts.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

Scenario load(const std::string& name, const std::vector<Override>& set = {}) {
  return load_scenario(name, set, data);
}

double step(const Scenario& scenario) {
  return simulate(scenario, "fluid").measured.metrics.step_time.value();
}

Scenario with(Scenario scenario, HardwarePart part, double factor) {
  auto speeds = scenario.platform.speeds;
  speeds[part] *= factor;
  scenario.platform = with_speeds(std::move(scenario.platform), speeds);
  return scenario;
}

/// The capacities themselves, as if another platform had been written.
void multiply(Platform& platform, HardwarePart part, double factor) {
  const auto parts = parts_of_resources(platform);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] == part) platform.resources[i].capacity *= factor;
}

/// Each measured time but the latency of large buckets, divided.
void divide_tables(Scenario& scenario, Transport transport, double factor) {
  const auto latency_of_large =
      (*WorldCommunicator{scenario}).choose(CollectiveKind::all_reduce, 64_MiB).latency;
  for (auto& table : scenario.calibration.tables) {
    if (table.transport != transport || table.ranks != scenario.job.gpus) continue;
    for (auto& point : table.points) {
      const auto latency = std::min(latency_of_large, 0.9 * point.time);
      point.time = latency + (point.time - latency) / factor;
    }
  }
}

}  // namespace

TEST_CASE("a ring's links so many times as fast leave the latencies and the closed form", "[what-if]") {
  const int ranks = GENERATE(2, 8, 64);
  const double factor = GENERATE(0.5, 2, 10);
  const auto scenario = ring_scenario(ranks, {{"tensor", 1, 0_ms, 0_ms, 12500000}}, 50_MB);
  const auto closed = [&](double times) {
    return 2.0 * (ranks - 1) * 500e-9 + 2.0 * (ranks - 1) / ranks * 50e6 / (50e9 * times);
  };
  CHECK(step(scenario) == Approx(closed(1)));
  CHECK(step(with(scenario, HardwarePart::nvlink, factor)) == Approx(closed(factor)));
  CHECK(step(with(scenario, HardwarePart::pcie, factor)) == Approx(closed(1)));
}

TEST_CASE("a star's network so many times as fast is the closed form", "[what-if]") {
  const auto star = [](const std::string& factor) {
    return step(load("scale/ring-all-reduce",
                     {{"platform", "synthetic-star"}, {"job.gpus", "16"}, {"faster.network", factor}}));
  };
  const auto closed = [](double times) { return 30 * 1e-6 + 30.0 / 16 * 1073741824 / (50e9 * times); };
  CHECK(star("1") == Approx(closed(1)));
  CHECK(star("2") == Approx(closed(2)));
  CHECK(star("0.25") == Approx(closed(0.25)));
}

TEST_CASE("a step of kernels alone takes half as long with kernels twice as fast", "[what-if]") {
  const auto scenario = ring_scenario(1, {{"layer", 6, 10_ms, 20_ms, 1000}}, 50_MB);
  CHECK(step(with(scenario, HardwarePart::gpu, 2)) == step(scenario) / 2);
  CHECK(step(with(scenario, HardwarePart::cpu, 2)) == step(scenario));
}

TEST_CASE("a profile's kernels get faster, the pauses between them do not", "[what-if]") {
  // 201 launches; the CPU is far ahead.
  const auto scenario = profiled_scenario(even_profile(100, 1_us, 100_us, 4_us));
  const double pauses = 201 * 4e-6 * 0.75;
  CHECK(step(scenario) == Approx(201 * 100e-6 + pauses));
  CHECK(step(with(scenario, HardwarePart::gpu, 2)) == Approx(201 * 50e-6 + pauses));
}

TEST_CASE("a step bound by its launches takes half as long with launches twice as fast", "[what-if]") {
  auto profile = even_profile(100, 20_us, 1_us);
  profile.step_time = Seconds{201 * 20e-6};
  const auto scenario = profiled_scenario(profile);
  REQUIRE(step(scenario) == Approx(201 * 20e-6).epsilon(1e-3));
  CHECK(step(with(scenario, HardwarePart::cpu, 2)) == Approx(201 * 10e-6).epsilon(2e-3));
  // Launches that cost nothing leave the kernels.
  CHECK(step(with(scenario, HardwarePart::cpu, 1e9)) == Approx(201 * 1e-6).epsilon(1e-3));
}

TEST_CASE("an input copy over PCIe twice as fast is that over links of twice the bandwidth", "[what-if]") {
  Scenario scenario;
  scenario.platform = built_platform(nvswitch_node(4));
  scenario.model.layers = synthetic({{"layer", 1, 1_ms, 2_ms, 0}});
  scenario.model.input_per_sample = 100_MB;
  scenario.model.optimizer_time = Seconds{};
  scenario.job.batch_per_gpu = 10;
  scenario.job.strategy = NoExchange{};
  const double copy = 1e9 / 25e9;
  const auto base = step(scenario);
  CHECK(base == Approx(copy + 2.6e-6 + 3e-3).epsilon(1e-3));
  CHECK(base - step(with(scenario, HardwarePart::pcie, 2)) == Approx(copy / 2));
  auto changed = scenario;
  multiply(changed.platform, HardwarePart::pcie, 2);
  CHECK(step(with(scenario, HardwarePart::pcie, 2)) == Approx(step(changed)).epsilon(1e-12));
  // From pageable memory one core's copy bounds it, which goes with host memory.
  scenario.job.input.pin_memory = false;
  scenario.platform.pageable_copy_rate = 10_GBps;
  CHECK(step(scenario) - step(with(scenario, HardwarePart::host_memory, 2)) == Approx(1e9 / 10e9 / 2));
  CHECK(step(with(scenario, HardwarePart::pcie, 2)) == step(scenario));
}

TEST_CASE("faster NVLink is that of a node with such links and a calibration of such times", "[what-if]") {
  const auto* model = GENERATE("h200-4x/vit_l_32", "h200-4x/gpt_medium");
  auto scenario = load(model);
  const auto expected = step(with(scenario, HardwarePart::nvlink, 2));
  CHECK(expected < 0.999 * step(scenario));
  divide_tables(scenario, Transport::p2p, 2);
  multiply(scenario.platform, HardwarePart::nvlink, 2);
  CHECK(expected == Approx(step(scenario)).epsilon(1e-6));
}

TEST_CASE("faster host memory is that of a node with such memory and SHM times", "[what-if]") {
  auto scenario = load("h200-4x/vit_l_32", {{"nccl.NCCL_P2P_DISABLE", "1"}});
  const auto expected = step(with(scenario, HardwarePart::host_memory, 2));
  CHECK(expected < 0.9 * step(scenario));
  divide_tables(scenario, Transport::shm, 2);
  multiply(scenario.platform, HardwarePart::host_memory, 2);
  CHECK(expected == Approx(step(scenario)).epsilon(1e-6));
}

TEST_CASE("NCCL chooses as on the platform that was built", "[what-if]") {
  const auto scenario = load("published/all-reduce", {{"platform", "aws-g6e.48xlarge"}, {"job.gpus", "8"}});
  auto faster = scenario;
  for (const auto part : all_parts) faster = with(std::move(faster), part, 100);
  const WorldCommunicator before{scenario};
  const WorldCommunicator after{faster};
  for (const auto size : {1_KiB, 64_KiB, 1_MiB, 64_MiB, 4_GiB}) {
    const auto plan = before->choose(CollectiveKind::all_reduce, size);
    const auto same = after->choose(CollectiveKind::all_reduce, size);
    CHECK(plan.algorithm == same.algorithm);
    CHECK(plan.protocol == same.protocol);
    CHECK(plan.channels == same.channels);
    const auto lowered = after->lower(CollectiveKind::all_reduce, size);
    CHECK(lowered.latency >= plan.latency);
    CHECK((lowered.flows.empty() || lowered.latency == plan.latency));
  }
}

TEST_CASE("the anchor stays what was measured on the platform as it is", "[what-if]") {
  const auto scenario = load("article/g6e");
  const auto compute = [](const Scenario& of) {
    return simulate(of, "fluid").measured.metrics.compute.value();
  };
  CHECK(compute(with(scenario, HardwarePart::pcie, 10)) == Approx(compute(scenario)));
}

TEST_CASE("nothing that gets faster makes a step longer", "[what-if]") {
  using Set = std::vector<Override>;
  const auto [name, set] = GENERATE(
      std::pair<std::string, Set>{"article/g6e", {}}, std::pair<std::string, Set>{"article/p4d", {}},
      std::pair<std::string, Set>{"article/g6e", {{"strategy.bucket_cap", "25 MiB"}}},
      std::pair<std::string, Set>{"article/g6e", {{"job.gpus", "16"}}},
      std::pair<std::string, Set>{"article/g6e", {{"strategy.comm_hook", "powersgd"}}},
      std::pair<std::string, Set>{"article/p4d", {{"job.gpus", "16"}, {"input.pin_memory", "false"}}},
      std::pair<std::string, Set>{"scale/pod-1024", {}});
  const auto scenario = load(name, set);
  for (const auto part : all_parts) {
    auto before = step(scenario);
    for (const auto factor : {1.5, 4.0, 1e3, 1e9}) {
      CAPTURE(name, key_of(part), factor);
      const auto now = step(with(scenario, part, factor));
      CHECK(now <= before * (1 + 1e-12));
      before = now;
    }
  }
}

TEST_CASE("a run with faster parts says first that it is a what-if", "[what-if]") {
  const auto what_if = simulate(load("article/g6e", {{"faster.host_memory", "2"}}), "fluid");
  CHECK(what_if.warnings.front().sentence ==
        "this is a what-if: host memory 2 times as fast as on aws-g6e.48xlarge");
  const auto plain = simulate(load("article/g6e", {{"faster.gpu", "1"}}), "fluid");
  CHECK_FALSE(test::find_warning(plain.warnings, "what-if-speeds"));
}

TEST_CASE("engines and folding agree on faster hardware", "[what-if]") {
  const auto scenario = load("article/g6e", {{"faster", "{ host_memory: 3, pcie: 1e9, gpu: 2, cpu: 1e9 }"}});
  const auto time = step(scenario);
  CHECK(simulate(scenario, "simgrid").measured.metrics.step_time.value() == Approx(time).epsilon(1e-9));
  CHECK(simulate(scenario, "fluid", FoldRanks::no).measured.metrics.step_time.value() ==
        Approx(time).epsilon(1e-9));
}
