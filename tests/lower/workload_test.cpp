// SPDX-License-Identifier: Apache-2.0
// Workloads that no strategy makes: different programs, several groups, channels, slow actors.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/base/problem.hpp"
#include "sim/engine/engine.hpp"
#include "sim/lower/lower.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/workloads.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// GPUs on an NVSwitch, 300 GB/s each way and direction, without latencies; rings at the full rate of links.
Scenario on_switch(int gpus, int nodes = 1) {
  Scenario scenario;
  scenario.platform =
      built_platform(nvswitch_node(gpus), nodes, nodes > 1 ? std::optional{star_fabric()} : std::nullopt);
  scenario.platform.collectives = CollectiveRules::ideal;
  scenario.job.gpus = gpus * nodes;
  return scenario;
}

Seconds makespan(const Workload& workload, const Scenario& scenario, const char* engine,
                 FoldRanks fold = FoldRanks::yes) {
  check(workload);
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario}, fold);
  return choose_engine(engine).engine->run(scenario.platform, lowered.ops).makespan();
}

/// Runs on both engines, with and without folding.
void check_takes(const Workload& workload, const Scenario& scenario, Seconds expected) {
  for (const auto* engine : {"fluid", "simgrid"}) {
    for (const auto fold : {FoldRanks::yes, FoldRanks::no}) {
      CAPTURE(engine, fold == FoldRanks::yes);
      CHECK(makespan(workload, scenario, engine, fold).value() == Approx(expected.value()).epsilon(1e-9));
    }
  }
}

std::string refusal(const Workload& workload) {
  try {
    check(workload);
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "";
}

constexpr double nvlink = 300e9;

}  // namespace

TEST_CASE("a pipeline of two stages sends each micro-batch while it computes the next") {
  const auto scenario = on_switch(2);
  const auto send = 30_MB;  // 100 us
  constexpr int micro_batches = 5;
  std::vector<Task> first;
  std::vector<Task> second;
  for (std::size_t m = 0; m < micro_batches; ++m) {
    first.push_back(kernel("forward", 1_ms));
    first.push_back(call(CollectiveKind::send_recv, send, 0, {TaskId{2 * m}}));
    second.push_back(call(CollectiveKind::send_recv, send, 0));
    second.push_back(kernel("forward", 1_ms, {TaskId{2 * m}}));
  }
  Workload workload;
  workload.programs = {program("stage 0", first), program("stage 1", second)};
  add_rank(workload, scenario.platform, 0);
  add_rank(workload, scenario.platform, 1);
  add_group(workload, "stages", {0, 1});
  check_takes(workload, scenario, (micro_batches + 1) * 1_ms + send / BytesPerSecond{nvlink});
}

TEST_CASE("8 stages of 4 replicas each are simulated as 8 actors and 15 groups") {
  const auto scenario = on_switch(32);
  Workload workload;
  for (std::size_t stage = 0; stage < 8; ++stage) {
    std::vector<Task> tasks;
    std::uint32_t slot = 0;
    std::vector<TaskId> received;
    if (stage > 0) {
      tasks.push_back(call(CollectiveKind::send_recv, 3_MB, slot++));
      received.emplace_back(0);
    }
    tasks.push_back(kernel("stage", 1_ms, received));
    const TaskId computed{tasks.size() - 1};
    if (stage < 7) tasks.push_back(call(CollectiveKind::send_recv, 3_MB, slot++, {computed}));
    tasks.push_back(call(CollectiveKind::all_reduce, 300_MB, slot, {computed}));
    workload.programs.push_back(program("stage " + std::to_string(stage), tasks));
  }
  // Ranks are numbered replica by replica; each stage of a replica has its own GPU.
  for (std::size_t rank = 0; rank < 32; ++rank) add_rank(workload, scenario.platform, rank % 8);
  const auto rank_of = [](std::size_t replica, std::size_t stage) { return 8 * replica + stage; };
  for (std::size_t stage = 0; stage < 8; ++stage) {
    for (std::size_t replica = 0; replica < 4 && stage < 7; ++replica)
      add_group(workload, "pair", {rank_of(replica, stage), rank_of(replica, stage + 1)});
  }
  for (std::size_t stage = 0; stage < 8; ++stage)
    add_group(workload, "replicas",
              {rank_of(0, stage), rank_of(1, stage), rank_of(2, stage), rank_of(3, stage)});
  check(workload);
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario});
  CHECK(lowered.folding.simulated_ranks() == 8);
  auto groups = lowered.folding.group_representative;
  std::ranges::sort(groups);
  CHECK(std::unique(groups.begin(), groups.end()) - groups.begin() == 7 + 8);
  // 8 stages one after the other, 7 sends of 10 us, and the last all-reduce: 1.5 x 300 MB at 300 GB/s.
  check_takes(workload, scenario, 8 * 1_ms + 7 * 10_us + 1.5_ms);
}

TEST_CASE("groups of unequal size on one node do not wait for each other") {
  const auto scenario = on_switch(5);
  Workload workload;
  workload.programs = {
      program("three", {kernel("forward", 1_ms), call(CollectiveKind::all_reduce, 600_MB, 0, {TaskId{0}})}),
      program("two", {call(CollectiveKind::all_reduce, 600_MB, 0), kernel("backward", 3_ms, {TaskId{0}})})};
  for (const std::size_t of : {0, 0, 0, 1, 1}) add_rank(workload, scenario.platform, of);
  add_group(workload, "three", {0, 1, 2});
  add_group(workload, "two", {3, 4});
  // three: 1 ms and 4/3 x 2 ms; two: 2 ms and 3 ms
  check_takes(workload, scenario, 5_ms);
}

TEST_CASE("two groups that share a GPU share its links") {
  const auto scenario = on_switch(3);
  Workload workload;
  workload.programs = {program("end", {call(CollectiveKind::all_reduce, 300_MB, 0)}), program("middle", {})};
  auto& middle = workload.programs[1];
  middle.streams.push_back({"second communicator", Lane::ordered});
  middle.tasks = {call(CollectiveKind::all_reduce, 300_MB, 0), call(CollectiveKind::all_reduce, 300_MB, 1)};
  middle.tasks[1].stream = StreamId{3};
  for (const std::size_t of : {0, 1, 0}) add_rank(workload, scenario.platform, of);
  add_group(workload, "left", {0, 1});
  add_group(workload, "right", {1, 2});
  check_takes(workload, scenario, 2_ms);  // 1 ms each, if it were alone
  middle.tasks[1].stream = communicator_stream;
  check_takes(workload, scenario, 2_ms);  // one after the other
}

TEST_CASE("all ranks wait for a straggler") {
  const auto scenario = on_switch(4);
  Workload workload;
  workload.programs = {
      program("rank", {kernel("backward", 1_ms), call(CollectiveKind::all_reduce, 200_MB, 0, {TaskId{0}})})};
  for (std::size_t rank = 0; rank < 4; ++rank)
    add_rank(workload, scenario.platform, 0, rank == 2 ? 1.5 : 1.0);
  add_group(workload, "all", {0, 1, 2, 3});
  check_takes(workload, scenario, 1.5_ms + 1_ms);
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario});
  CHECK(lowered.folding.simulated_ranks() == 2);
}

TEST_CASE("a loader is ahead by the length of its queue") {
  const auto scenario = on_switch(1);
  constexpr int steps = 6;
  const auto loader = GENERATE(0.4_ms, 1_ms, 2.5_ms);
  const auto depth = GENERATE(1, 2, 4);
  Workload workload;
  workload.programs = {program("rank", {other("take", Take{Slot{0}}), kernel("step", 1_ms)}),
                       program("loader", {other("decode", HostWork{loader}), other("put", Put{Slot{0}})})};
  add_rank(workload, scenario.platform, 0);
  const auto socket = std::ranges::find(scenario.platform.devices, DeviceKind::socket, &Device::kind);
  workload.actors.push_back(
      {.program = ProgramId{1},
       .at = DeviceId{static_cast<std::size_t>(socket - scenario.platform.devices.begin())}});
  add_channel(workload, ActorId{1}, ActorId{0}, depth);
  workload.steps = steps;
  // The first batch, then the slower of loading and training, then the last step.
  const auto slower = std::max(loader, 1_ms);
  check_takes(workload, scenario, loader + (steps - 1) * slower + 1_ms);
}

TEST_CASE("a queue that is full holds its loader back") {
  const auto scenario = on_switch(1);
  Workload workload;
  workload.programs = {program("rank", {other("take", Take{Slot{0}}), kernel("step", 1_ms)}),
                       program("loader", {other("decode", HostWork{0.1_ms}), other("put", Put{Slot{0}})})};
  add_rank(workload, scenario.platform, 0);
  workload.actors.push_back({.program = ProgramId{1}, .at = scenario.platform.gpus[0]});
  add_channel(workload, ActorId{1}, ActorId{0}, 2);
  workload.steps = 5;
  const auto lowered = lower(workload, scenario, Communicators{workload, scenario});
  const auto timeline = choose_engine("fluid").engine->run(scenario.platform, lowered.ops);
  std::vector<double> puts;
  for (std::size_t i = 0; i < lowered.ops.size(); ++i) {
    const auto& origin = lowered.ops.op(OpId{i}).origin;
    if (origin.program == 1 && origin.task == 1) puts.push_back(timeline.end[i].value() * 1e3);
  }
  // Takes are at 0.1, 1.1 and 2.1 ms; the put after the next waits for each.
  const std::vector<double> expected{0.1, 0.2, 0.3, 1.1, 2.1};
  REQUIRE(puts.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(puts[k] == Approx(expected[k]));
}

TEST_CASE("copies out use the upward links and a copy engine of their own") {
  const auto scenario = on_switch(1);
  Workload workload;
  auto in = other("copy in", Copy{.bytes = 25_MB});
  auto out = other("copy out", Copy{.bytes = 25_MB, .to = Place::host});
  in.stream = out.stream = side_stream;
  workload.programs = {program("rank", {in, out})};
  add_rank(workload, scenario.platform, 0);
  check_takes(workload, scenario, 1_ms + 2.6_us);  // side by side: PCIe carries 25 GB/s each way
}

TEST_CASE("a workload whose members disagree is refused, with the first call that differs", "[errors]") {
  const auto scenario = on_switch(2);
  Workload workload;
  workload.programs = {
      program("a", {call(CollectiveKind::all_reduce, 8_B, 0), call(CollectiveKind::all_gather, 8_B, 0)}),
      program("b", {call(CollectiveKind::all_reduce, 8_B, 0)})};
  add_rank(workload, scenario.platform, 0);
  add_rank(workload, scenario.platform, 1);
  add_group(workload, "pair", {0, 1});
  CHECK(refusal(workload) ==
        "the workload cannot run: call 1 on group 'pair' is all-gather of 8 B in actor 0 ('a'), but none in "
        "actor 1 ('b')");
  workload.programs[1].tasks.push_back(call(CollectiveKind::all_gather, 16_B, 0));
  CHECK(refusal(workload) ==
        "the workload cannot run: call 1 on group 'pair' is all-gather of 8 B in actor 0 ('a'), but "
        "all-gather of 16 B in actor 1 ('b')");
  workload.programs[1].tasks.back() = call(CollectiveKind::all_gather, 8_B, 0);
  CHECK(refusal(workload).empty());
  workload.actors[1].groups.clear();
  CHECK(refusal(workload) ==
        "the workload cannot run: actor 1 ('b') has 0 groups, but makes a call on slot 0");
}

TEST_CASE("a channel with more puts than takes is refused", "[errors]") {
  const auto scenario = on_switch(2);
  Workload workload;
  workload.programs = {program("loader", {other("put", Put{Slot{0}}), other("put", Put{Slot{0}})}),
                       program("rank", {other("take", Take{Slot{0}})})};
  add_rank(workload, scenario.platform, 0);
  add_rank(workload, scenario.platform, 1);
  add_channel(workload, ActorId{0}, ActorId{1}, 1);
  CHECK(refusal(workload) ==
        "the workload cannot run: actor 0 ('loader') puts 2 items per step into channel 0, but actor 1 "
        "('rank') "
        "takes 1");
}

TEST_CASE("a task that waits for a later one is refused", "[errors]") {
  const auto scenario = on_switch(1);
  Workload workload;
  workload.programs = {program("rank", {kernel("first", 1_ms, {TaskId{1}}), kernel("second", 1_ms)})};
  add_rank(workload, scenario.platform, 0);
  CHECK(refusal(workload) ==
        "the workload cannot run: task 0 of program 'rank', 'first', depends on a task that is not issued "
        "before it");
}
