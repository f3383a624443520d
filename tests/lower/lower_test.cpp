// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <set>

#include "sim/base/make_warning.hpp"
#include "sim/base/problem.hpp"
#include "sim/lower/lower.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/plan/plan.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Scenario on(Platform platform, int ranks) {
  Scenario scenario;
  scenario.platform = std::move(platform);
  scenario.job.gpus = ranks;
  return scenario;
}

std::map<std::string, int> uses(const Platform& platform, const std::vector<ResourceId>& path) {
  std::map<std::string, int> counted;
  for (const auto resource : path) ++counted[platform.name_of(resource)];
  return counted;
}

Transport transport(const Platform& platform, std::size_t a, std::size_t b,
                    const std::map<std::string, std::string>& variables = {}) {
  const Routes routes{platform};
  return choose_transport(routes, platform, nccl_settings(variables), platform.gpus[a], platform.gpus[b]);
}

Hop hop(const Platform& platform, std::size_t a, std::size_t b,
        const std::map<std::string, std::string>& variables = {}, std::size_t rail = 0) {
  const Routes routes{platform};
  return *make_hop(routes, platform, {nccl_settings(variables)}, platform.gpus[a], platform.gpus[b], rail);
}

}  // namespace

TEST_CASE("NCCL uses P2P below the host bridge, host memory above it, and the NIC between nodes") {
  const auto tree = built_platform(tree_node());
  CHECK(transport(tree, 0, 1) == Transport::p2p);  // PIX
  CHECK(transport(tree, 0, 2) == Transport::p2p);  // PXB
  CHECK(transport(tree, 0, 3) == Transport::shm);  // NODE
  CHECK(transport(tree, 4, 5) == Transport::shm);  // PHB
  CHECK(transport(tree, 0, 4) == Transport::shm);  // SYS
  const auto two = built_platform(nvswitch_node(2), 2, star_fabric());
  CHECK(transport(two, 0, 1) == Transport::p2p);
  CHECK(transport(two, 0, 2) == Transport::net);
}

TEST_CASE("NCCL's variables change the limits between transports") {
  const auto tree = built_platform(tree_node());
  CHECK(transport(tree, 0, 1, {{"NCCL_P2P_DISABLE", "1"}}) == Transport::shm);
  CHECK(transport(tree, 0, 3, {{"NCCL_P2P_LEVEL", "PHB"}}) == Transport::p2p);
  CHECK(transport(tree, 0, 4, {{"NCCL_P2P_LEVEL", "PHB"}}) == Transport::shm);
  CHECK(transport(tree, 0, 4, {{"NCCL_P2P_LEVEL", "SYS"}}) == Transport::p2p);
  CHECK(transport(tree, 0, 2, {{"NCCL_P2P_LEVEL", "PIX"}}) == Transport::shm);
  CHECK(transport(tree, 0, 4, {{"NCCL_SHM_DISABLE", "1"}}) == Transport::net);
  auto no_nic = tree_node();
  no_nic.nics.clear();
  no_nic.links.erase(no_nic.links.begin() + 1);
  CHECK(transport(built_platform(no_nic), 0, 4, {{"NCCL_SHM_DISABLE", "1"}}) == Transport::none);
}

TEST_CASE("SHM writes the receiver's host memory and reads it again") {
  const auto tree = built_platform(tree_node());
  const auto across = hop(tree, 0, 4);
  CHECK(uses(tree, across.path) == std::map<std::string, int>{{"gpu0 -> plx0", 1},
                                                              {"plx0 -> plx2", 1},
                                                              {"plx2 -> rc0", 1},
                                                              {"rc0 -> cpu0", 1},
                                                              {"cpu0 -> cpu1", 1},
                                                              {"cpu1 memory", 2},
                                                              {"cpu1 -> rc2", 1},
                                                              {"rc2 -> gpu4", 1}});
  CHECK(across.bandwidth == 20_GBps);
}

TEST_CASE("GPUDirect RDMA uses a near NIC directly, and host memory if it is disabled") {
  const auto two = built_platform(nvswitch_node(2), 2, star_fabric());
  const auto direct = hop(two, 1, 3, {}, 1);
  CHECK(uses(two, direct.path) == std::map<std::string, int>{{"node0.gpu1 -> node0.plx1", 1},
                                                             {"node0.plx1 -> node0.nic1", 1},
                                                             {"node0.nic1 -> fabric", 1},
                                                             {"fabric -> node1.nic1", 1},
                                                             {"node1.nic1 -> node1.plx1", 1},
                                                             {"node1.plx1 -> node1.gpu1", 1}});
  const auto bounced = uses(two, hop(two, 1, 3, {{"NCCL_NET_GDR_LEVEL", "LOC"}}, 1).path);
  CHECK(bounced.at("node0.cpu0 memory") == 2);
  CHECK(bounced.at("node1.cpu0 memory") == 2);
  CHECK(bounced.at("node0.nic1 -> fabric") == 1);
}

TEST_CASE("a ring all-reduce moves 2(n-1)/n of the buffer over every hop, each direction of each GPU once") {
  const auto scenario = on(built_platform(nvswitch_node(8)), 8);
  const WorldCommunicator lowering{scenario};
  const auto lowered = lowering->lower(CollectiveKind::all_reduce, 1_GiB);
  REQUIRE(lowered.flows.size() == 1);
  CHECK(lowered.flows[0].amount.value() == Approx(1.75 * 1073741824));
  const auto used = uses(scenario.platform, lowered.flows[0].path);
  CHECK(used.size() == 16);
  for (const auto& [name, times] : used) CHECK(times == 1);
}

TEST_CASE("each collective moves its bus factor, and a broadcast does not close the ring") {
  const auto scenario = on(built_platform(nvswitch_node(4)), 4);
  const WorldCommunicator lowering{scenario};
  const auto flow = [&](CollectiveKind kind) { return lowering->lower(kind, 256_MiB).flows.at(0); };
  CHECK((flow(CollectiveKind::all_gather).amount / 256_MiB) == Approx(0.75));
  CHECK((flow(CollectiveKind::reduce_scatter).amount / 256_MiB) == Approx(0.75));
  CHECK((flow(CollectiveKind::broadcast).amount / 256_MiB) == Approx(1));
  CHECK(flow(CollectiveKind::broadcast).path.size() == 6);
  CHECK(flow(CollectiveKind::send_recv).path.size() == 8);
}

TEST_CASE("several nodes use all their NICs, each ring leaving at another GPU") {
  const auto scenario = on(built_platform(nvswitch_node(4), 2, star_fabric()), 8);
  const WorldCommunicator lowering{scenario};
  CHECK(lowering->facts().nodes == 2);
  CHECK(lowering->facts().net_bandwidth.value() == Approx(4 * 12.5e9));
  auto scenario_ring = scenario;
  scenario_ring.job.nccl = {{"NCCL_ALGO", "RING"}};
  const WorldCommunicator rings{scenario_ring};
  const auto lowered = rings->lower(CollectiveKind::all_reduce, 1_GiB);
  REQUIRE(lowered.flows.size() == 4);
  std::map<std::string, int> used;
  Bytes sent{};
  for (const auto& flow : lowered.flows) {
    sent += flow.amount;
    for (const auto& [name, times] : uses(scenario.platform, flow.path)) used[name] += times;
  }
  CHECK(sent.value() == Approx(1.75 * 1073741824));
  for (int node = 0; node < 2; ++node) {
    for (int nic = 0; nic < 4; ++nic) {
      CHECK(used.at("node" + std::to_string(node) + ".nic" + std::to_string(nic) + " -> fabric") == 1);
    }
  }
}

TEST_CASE("trees on several nodes use all their NICs equally") {
  auto scenario = on(built_platform(nvswitch_node(4), 2, star_fabric()), 8);
  scenario.job.nccl = {{"NCCL_ALGO", "TREE"}};
  const auto lowered = (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1_GiB);
  REQUIRE(lowered.flows.size() == 8);
  std::map<std::string, double> carried;
  for (const auto& flow : lowered.flows) {
    for (const auto& [name, times] : uses(scenario.platform, flow.path))
      carried[name] += times * flow.amount.value();
  }
  // two trees a NIC, each with an eighth of the buffer, once up and once down between two nodes
  for (int nic = 0; nic < 4; ++nic) {
    CHECK(carried.at("node0.nic" + std::to_string(nic) + " -> fabric") == Approx(1073741824.0 / 4));
  }
}

TEST_CASE("ring orders visit every rank once, and trees join all ranks without a cycle") {
  const int nodes = GENERATE(1, 2, 3, 5);
  const auto platform = built_platform(nvswitch_node(4), nodes, star_fabric());
  const int ranks = 4 * nodes;
  const Routes routes{platform};
  for (const auto& order : ring_orders(routes, first_gpus(ranks))) {
    CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == static_cast<std::size_t>(ranks));
    CHECK(order.size() == static_cast<std::size_t>(ranks));
  }
  for (const auto& edges : tree_edges(routes, first_gpus(ranks))) {
    CHECK(edges.size() == static_cast<std::size_t>(ranks - 1));
    std::set<std::size_t> children;
    for (const auto& [child, parent] : edges) children.insert(child);
    CHECK(children.size() == edges.size());  // one parent each, so a tree if connected: one root is left
  }
}

namespace {

std::vector<Warning> warnings_of_all_reduce(const Scenario& scenario) {
  const WorldCommunicator lowering{scenario};
  const auto provenance = lowering->lower(CollectiveKind::all_reduce, 1000_MB).provenance;
  REQUIRE(provenance.size() == 1);
  return extrapolations_of(provenance[0]);
}

}  // namespace

TEST_CASE("a measured collective sets the rate of its transport and is predicted exactly") {
  auto scenario = on(built_platform(tree_node()), 6);
  scenario.job.nccl = {{"NCCL_P2P_DISABLE", "1"}};
  scenario.calibration.collectives = {
      {CollectiveKind::all_reduce, Transport::shm, 6, 1000_MB, 500_ms, "test"}};
  const WorldCommunicator lowering{scenario};
  const auto lowered = lowering->lower(CollectiveKind::all_reduce, 1000_MB);
  CHECK(lowered.latency.value() + lowered.flows[0].amount.value() / lowered.flows[0].cap == Approx(0.5));
  CHECK(warnings_of_all_reduce(scenario).empty());
}

TEST_CASE("a rate that was not measured over host memory, or on other ranks, gives a warning") {
  auto scenario = on(built_platform(tree_node()), 6);
  scenario.job.nccl = {{"NCCL_P2P_DISABLE", "1"}};
  CHECK(warnings_of_all_reduce(scenario) ==
        std::vector{make_warning<"extrapolated-collectives/not-measured", "collectives", "library">(
            "SHM collectives", "NCCL")});
  scenario.calibration.collectives = {
      {CollectiveKind::all_reduce, Transport::shm, 8, 1000_MB, 500_ms, "test"}};
  CHECK(warnings_of_all_reduce(scenario) ==
        std::vector{make_warning<"extrapolated-collectives/other-ranks", "collectives", "measured", "ranks">(
            "SHM collectives", 8, 6)});
}

TEST_CASE("a measured collective faster than its latency is the user's error") {
  auto scenario = on(built_platform(nvswitch_node(8)), 8);
  scenario.calibration.name = "lab";
  scenario.calibration.collectives = {{CollectiveKind::all_reduce, Transport::p2p, 8, 1_GiB, 1_us, "test"}};
  CHECK_THROWS_WITH(WorldCommunicator{scenario},
                    "error: calibration 'lab': all-reduce of 1074 MB on 8 ranks in 1 us is impossible, its "
                    "latency alone is "
                    "56 us\n  hint: check its 'time' and 'size'; a large buffer shows the rate best\n");
}

TEST_CASE("a GPU that cannot reach its NIC has no transport between nodes") {
  auto node = nvswitch_node(1);
  node.sockets.clear();
  node.links = {link("gpu0", "nvswitch", LinkKind::nvlink, 300_GBps, 12),
                link("nic0", "plx0", LinkKind::pcie, 25_GBps)};
  const auto two = on(built_platform(node, 2, star_fabric()), 2);
  CHECK_THROWS_WITH(WorldCommunicator{two}, Catch::Contains("no transport from node0.gpu0 to node1.gpu0"));
}

TEST_CASE("settings that exclude every algorithm are the user's error") {
  auto scenario = on(built_platform(nvswitch_node(4)), 4);
  scenario.job.nccl = {{"NCCL_ALGO", "RING"}, {"NCCL_PROTO", "^LL,LL128,SIMPLE"}};
  CHECK_THROWS_WITH(WorldCommunicator{scenario},
                    Catch::Contains("NCCL_ALGO and NCCL_PROTO exclude every algorithm"));
  auto island = tree_node();
  island.nics.clear();
  island.links.erase(island.links.begin() + 1);
  auto split = on(built_platform(island), 6);
  split.job.nccl = {{"NCCL_SHM_DISABLE", "1"}};
  CHECK_THROWS_WITH(WorldCommunicator{split},
                    Catch::Contains("no transport from gpu2 to gpu3 on platform 'test'"));
}

TEST_CASE("one rank needs no transport and sends nothing") {
  const auto scenario = on(built_platform(tree_node()), 1);
  const auto lowered = (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1_GiB);
  CHECK(lowered.flows.empty());
  CHECK(lowered.latency == Seconds{});
}

TEST_CASE("a lowered step keeps every task of every rank and step, and waits only for what is there") {
  auto scenario = ring_scenario(4, {{"layer", 3, 1_ms, 2_ms, 1000}}, 4000_B);
  scenario.job.steps = 2;
  const auto workload = plan(scenario, compute_costs(scenario));
  const auto graph = lower(workload, scenario, Communicators{workload, scenario}, FoldRanks::no).ops;
  std::map<std::tuple<int, int, int>, int> kernels;
  int collectives = 0;
  for (const auto& op : graph.ops()) {
    if (op.origin.activity == Activity::kernel) ++kernels[{op.origin.step, op.origin.actor, op.origin.task}];
    collectives += op.origin.activity == Activity::collective;
  }
  CHECK(kernels.size() == 2u * 4 * 6);
  CHECK(collectives == 2 * 3);
  for (const auto& edge : graph.edges()) CHECK(edge.before < edge.after);
}
