// SPDX-License-Identifier: Apache-2.0
// Folding of workloads with several programs, groups and channels, beyond those that strategies make.
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "sim/engine/engine.hpp"
#include "sim/lower/lower.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/workloads.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Seconds some_time() {
  return Seconds{1e-4 * *rc::gen::inRange(1, 20)};
}

/// `stages` programs, each run by one rank of each replica; ranks send to the next stage, reduce over the
/// replicas, and now and then take from a loader. Ranks are laid out replica by replica or stage by stage.
struct Made {
  Scenario scenario;
  Workload workload;
};

Made random_workload() {
  Made made;
  auto& [scenario, workload] = made;
  const auto stages = static_cast<std::size_t>(*rc::gen::inRange(1, 4));
  const auto replicas = static_cast<std::size_t>(*rc::gen::inRange(1, 5));
  const bool by_replica = *rc::gen::arbitrary<bool>();
  const bool loads = *rc::gen::arbitrary<bool>();
  const bool gathers = *rc::gen::arbitrary<bool>();
  const int nodes = *rc::gen::element(1, 2);
  const auto gpus = static_cast<int>(stages * replicas);
  auto node = nvswitch_node((gpus + nodes - 1) / nodes);
  if (*rc::gen::arbitrary<bool>()) node.links[0].forward = node.links[0].backward = 200_GBps;
  scenario.platform = built_platform(node, nodes, nodes > 1 ? std::optional{star_fabric()} : std::nullopt);
  if (*rc::gen::arbitrary<bool>()) scenario.platform.collectives = CollectiveRules::ideal;
  scenario.job.gpus = gpus;
  scenario.calibration.contention.push_back({.transport = Transport::p2p,
                                             .precision = Precision::fp32,
                                             .kernel_slowdown = 1.2,
                                             .collective_slowdown = 1.7,
                                             .measured_on = "",
                                             .source = "test"});
  const auto send = Bytes{1e6 * *rc::gen::inRange(1, 30)};
  const auto reduce = Bytes{1e6 * *rc::gen::inRange(1, 300)};
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::vector<Task> tasks;
    std::uint32_t slot = 0;
    if (loads) tasks.push_back(other("take", Take{Slot{0}}));
    if (gathers) tasks.push_back(other("copy", Copy{.bytes = 5_MB}));
    std::vector<TaskId> received;
    if (stage > 0) {
      tasks.push_back(call(CollectiveKind::send_recv, send, slot++));
      received.emplace_back(tasks.size() - 1);
    }
    tasks.push_back(kernel("forward", some_time(), received));
    if (stage + 1 < stages)
      tasks.push_back(call(CollectiveKind::send_recv, send, slot++, {TaskId{tasks.size() - 1}}));
    tasks.push_back(kernel("backward", some_time()));
    tasks.push_back(call(CollectiveKind::all_reduce, reduce, slot, {TaskId{tasks.size() - 1}}));
    if (gathers) tasks.push_back(call(CollectiveKind::all_gather, reduce, slot));
    tasks.push_back(kernel("optimizer", some_time(), {TaskId{tasks.size() - 1}}));
    workload.programs.push_back(program("stage", tasks));
  }
  if (loads)
    workload.programs.push_back(
        program("loader", {other("decode", HostWork{some_time()}), other("put", Put{Slot{0}})}));
  const auto stage_of = [&](std::size_t rank) { return by_replica ? rank % stages : rank / replicas; };
  const auto rank_of = [&](std::size_t replica, std::size_t stage) {
    return by_replica ? replica * stages + stage : stage * replicas + replica;
  };
  const auto slow = static_cast<std::size_t>(*rc::gen::inRange(0, 2 * gpus));  // often none
  for (std::size_t rank = 0; rank < stages * replicas; ++rank)
    add_rank(workload, scenario.platform, stage_of(rank), rank == slow ? 1.5 : 1);
  for (std::size_t stage = 0; stage + 1 < stages; ++stage) {
    for (std::size_t replica = 0; replica < replicas; ++replica)
      add_group(workload, "pair", {rank_of(replica, stage), rank_of(replica, stage + 1)});
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::vector<std::size_t> members;
    for (std::size_t replica = 0; replica < replicas; ++replica) members.push_back(rank_of(replica, stage));
    add_group(workload, "replicas", members);
  }
  for (std::size_t rank = 0; loads && rank < stages * replicas; ++rank) {
    const ActorId loader{workload.actors.size()};
    workload.actors.push_back({.program = ProgramId{stages}, .at = scenario.platform.gpus[rank]});
    add_channel(workload, loader, ActorId{rank}, 1 + static_cast<int>(rank % 2));
  }
  workload.steps = *rc::gen::inRange(1, 3);
  return made;
}

}  // namespace

TEST_CASE("folding over programs, groups and channels changes only the cost of a simulation") {
  rc::prop("folded and unfolded runs and both engines agree to 1e-9", [] {
    const auto made = random_workload();
    check(made.workload);
    const Communicators communicators{made.workload, made.scenario};
    const auto end = [&](FoldRanks fold, const char* engine) {
      const auto lowered = lower(made.workload, made.scenario, communicators, fold);
      return choose_engine(engine).engine->run(made.scenario.platform, lowered.ops).makespan().value();
    };
    const auto whole = end(FoldRanks::no, "fluid");
    RC_ASSERT(std::abs(end(FoldRanks::yes, "fluid") - whole) <= 1e-9 * whole);
    RC_ASSERT(std::abs(end(FoldRanks::yes, "simgrid") - whole) <= 1e-9 * whole);
    RC_ASSERT(std::abs(end(FoldRanks::no, "simgrid") - whole) <= 1e-9 * whole);
  });
}
