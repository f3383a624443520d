// SPDX-License-Identifier: Apache-2.0
// All-to-all: which links it uses how often, and how long it takes alone.
#include <catch2/catch.hpp>

#include <map>

#include "sim/base/make_warning.hpp"
#include "sim/nccl/collective_ways.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr auto all_to_all = CollectiveKind::all_to_all;

Scenario with(Platform platform, int ranks, std::map<std::string, std::string> variables = {}) {
  Scenario scenario;
  scenario.platform = std::move(platform);
  scenario.job.gpus = ranks;
  scenario.job.nccl = std::move(variables);
  return scenario;
}

/// Times that a byte for each peer crosses each resource.
std::map<std::string, double> loads(const Platform& platform, const PairFlow& flow) {
  std::map<std::string, double> counted;
  for (const auto resource : flow.path) counted[platform.name_of(resource)] += flow.share;
  return counted;
}

Platform star(int ranks, BytesPerSecond rate, Seconds latency) {
  PlatformDescription description;
  description.name = "star";
  description.collectives = CollectiveRules::ideal;
  description.hardware = GeneratedPlatform{.topology = GeneratedPlatform::Topology::star,
                                           .bandwidth = rate,
                                           .latency = latency,
                                           .uplink_bandwidth = {}};
  return build_platform(description, ideal_gpu(), ranks);
}

}  // namespace

TEST_CASE("an all-to-all on an ideal star takes the time of its closed form", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int ranks = GENERATE(2, 3, 8, 32);
  CAPTURE(engine, ranks);
  const auto scenario = with(star(ranks, 100_GBps, 2_us), ranks);
  const WorldCommunicator lowering{scenario};
  // (n-1)/n of the buffer leave each rank; a message crosses two links.
  const double expected = 2 * 2e-6 + (ranks - 1.0) / ranks * 800e6 / 100e9;
  CHECK(test::time_alone(*lowering, all_to_all, 800_MB, scenario.platform, engine).value() ==
        Approx(expected).epsilon(tolerance::closed_form));
}

TEST_CASE("an all-to-all on an ideal ring takes the shortest paths, and the most loaded link decides",
          "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto scenario = ring_scenario(5, {}, 1_MB, 100_GBps, 2_us);
  const WorldCommunicator lowering{scenario};
  // A link carries one pair that is a hop apart and two that are two, a fifth of the buffer each.
  CHECK(test::time_alone(*lowering, all_to_all, 500_MB, scenario.platform, engine).value() ==
        Approx(2 * 2e-6 + 3 * 100e6 / 100e9).epsilon(tolerance::closed_form));
}

TEST_CASE("pairs within a node use its NVLinks and other pairs the NICs of the receiver, in parallel") {
  const auto scenario = with(built_platform(nvswitch_node(4), 2, star_fabric()), 8);
  const Routes routes{scenario.platform};
  const CollectiveWays ways{routes, nccl_settings({}), first_gpus(8)};
  const auto& pairs = ways.pairs();
  REQUIRE(pairs.size() == 2);
  CHECK_FALSE(pairs[0].is_between_nodes);
  CHECK(pairs[0].peers == 3);
  const auto inside = loads(scenario.platform, pairs[0]);
  CHECK(inside.size() == 16);
  CHECK(inside.at("node0.gpu1 -> node0.nvswitch") == 3);
  CHECK(inside.at("node1.nvswitch -> node1.gpu2") == 3);
  CHECK(pairs[0].path.size() == 16);  // the share is that of all its uses
  CHECK(pairs[1].is_between_nodes);
  CHECK(pairs[1].peers == 4);
  const auto between = loads(scenario.platform, pairs[1]);
  CHECK(between.at("node0.nic2 -> fabric") == 4);
  CHECK(between.at("fabric -> node1.nic2") == 4);
  // PXN: what is for another rail goes over NVLink to the GPU beside that rail's NIC.
  CHECK(between.at("node0.gpu0 -> node0.nvswitch") == 3);
}

TEST_CASE("between nodes an all-to-all takes the time of the slower of NVLinks and NICs") {
  const auto scenario = with(built_platform(nvswitch_node(4), 2, star_fabric()), 8);
  const WorldCommunicator lowering{scenario};
  const auto lowered = lowering->lower(all_to_all, 8_GB);
  REQUIRE(lowered.flows.size() == 2);
  const auto time = test::time_alone(*lowering, all_to_all, 8_GB, scenario.platform, "fluid");
  // Each rank sends 1 GB to each of 4 ranks of the other node, 12.5 GB/s a NIC.
  CHECK((time - lowered.latency).value() == Approx(4e9 / 12.5e9));
  // Inside: 3 GB at what NCCL takes 12 NVLinks of an A100 for, 240 GB/s.
  const auto& inside = lowered.flows.front();
  CHECK(inside.amount.value() / inside.cap == Approx(3e9 / 240e9));
}

TEST_CASE("NCCL's plan of an all-to-all: channels of sends, LL up to 16 KiB a channel") {
  const auto scenario = with(built_platform(nvswitch_node(4)), 4);
  const WorldCommunicator lowering{scenario};
  const auto facts = lowering->facts();
  const auto channels = pair_channels(facts, {});
  CHECK(channels.all == 32);       // 24 rounded up, as the grid of NCCL's kernel has it in our traces
  CHECK(channels.per_peer == 32);  // 2 for each of 12 links, rounded up
  const auto most = 4 * 32 * 16_KiB;
  CHECK(choose_plan(all_to_all, most, facts, {})->protocol == Protocol::ll);
  CHECK(choose_plan(all_to_all, most + 4_B, facts, {})->protocol == Protocol::simple);
  // There is no algorithm to choose.
  const auto told = nccl_settings({{"NCCL_ALGO", "Tree"}, {"NCCL_PROTO", "LL128"}});
  CHECK(choose_plan(all_to_all, 1_GiB, facts, told)->protocol == Protocol::simple);
  CHECK(bus_factor(all_to_all, 4) == 0.75);
}

TEST_CASE("over host memory all pairs share it") {
  auto scenario = with(built_platform(tree_node()), 6, {{"NCCL_P2P_DISABLE", "1"}});
  const WorldCommunicator lowering{scenario};
  const auto time = test::time_alone(*lowering, all_to_all, 6_GB, scenario.platform, "fluid");
  const auto latency = lowering->lower(all_to_all, 6_GB).latency;
  // gpu4 and gpu5 share a root port of 25 GB/s: in come 2 x 5 GB, of which 2 GB from each other.
  CHECK((time - latency).value() >= 10e9 / 25e9);
}

TEST_CASE("an unmeasured all-to-all takes the time of a send/recv of each rank's outgoing bytes") {
  auto scenario = with(built_platform(nvswitch_node(4)), 4);
  CollectiveTable table;
  table.transport = Transport::p2p;
  table.kind = CollectiveKind::send_recv;
  table.ranks = 4;
  table.latency = 8_us;
  table.points = {{1_KiB, 8_us}, {75_MB, 308_us}, {300_MB, 1208_us}};
  scenario.calibration.name = "made up";
  scenario.calibration.tables = {table};
  const auto seconds = [&] {
    const WorldCommunicator lowering{scenario};
    return test::time_alone(*lowering, all_to_all, 100_MB, scenario.platform, "fluid").value();
  };
  CHECK(seconds() == Approx(308e-6));
  const auto provenance = (*WorldCommunicator{scenario}).lower(all_to_all, 100_MB).provenance;
  REQUIRE(provenance.size() == 1);
  CHECK(table_extrapolations(provenance[0]) ==
        std::vector{make_warning<"extrapolated-collectives/other-operation", "collectives", "measured">(
            "P2P all-to-all", "send/recv")});
  table.kind = all_to_all;
  table.points = {{1_KiB, 8_us}, {100_MB, 500_us}};
  scenario.calibration.tables.push_back(table);
  CHECK(seconds() == Approx(500e-6));
}
