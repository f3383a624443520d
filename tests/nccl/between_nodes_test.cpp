// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "sim/nccl/alone_time.hpp"
#include "sim/nccl/collective_ways.hpp"
#include "sim/nccl/net_hop.hpp"
#include "sim/nccl/nvlink_rings.hpp"
#include "sim/nccl/rank_order.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

using Uses = std::map<std::string, int>;

Uses uses(const Platform& platform, const std::vector<ResourceId>& path) {
  Uses counted;
  for (const auto resource : path) ++counted[platform.name_of(resource)];
  return counted;
}

Uses net_way(const Platform& platform, std::size_t a, std::size_t b, std::size_t rail,
             const std::map<std::string, std::string>& variables = {}) {
  const Routes routes{platform};
  const auto settings = nccl_settings(variables);
  return uses(platform, net_hop(routes, {settings}, platform.gpus[a], platform.gpus[b], rail)->path);
}

FabricDescription rails(int nodes_per_leaf, int spines) {
  auto fabric = star_fabric();
  fabric.kind = FabricDescription::Kind::rail_optimised;
  fabric.nodes_per_leaf = nodes_per_leaf;
  fabric.spines = spines;
  fabric.uplink_bandwidth = BytesPerSecond{12.5e9};
  return fabric;
}

FabricDescription over(NetworkKind kind) {
  auto fabric = star_fabric();
  fabric.network.kind = kind;
  fabric.network.gpudirect = kind != NetworkKind::tcp;
  return fabric;
}

Gpu hopper() {
  auto gpu = round_gpu();
  gpu.compute_capability = 90;
  return gpu;
}

Platform hopper_nodes(int gpus, int nodes, std::optional<NvlinkDomainDescription> domain = {}) {
  PlatformDescription description;
  auto node = nvswitch_node(gpus);
  if (domain) {
    node.nvswitches.clear();
    node.links.erase(node.links.begin());
  }
  description.hardware = BuiltPlatform{std::move(node), nodes, star_fabric(), domain};
  return build_platform(description, hopper(), 1);
}

Scenario on(Platform platform, int ranks, std::map<std::string, std::string> variables = {}) {
  Scenario scenario;
  scenario.platform = std::move(platform);
  scenario.job.gpus = ranks;
  scenario.job.nccl = std::move(variables);
  return scenario;
}

/// The NVLinks of a DGX-1 with V100: two to the GPUs of one count, one to those of the other.
NodeDescription cube_mesh() {
  NodeDescription node;
  node.gpus = 8;
  const auto nv = [&](int a, int b, int count) {
    node.links.push_back(link("gpu" + std::to_string(a), "gpu" + std::to_string(b), LinkKind::nvlink,
                              BytesPerSecond{22.5e9 * count}, count));
  };
  for (const int first : {0, 4}) {
    nv(first, first + 1, 1);
    nv(first, first + 2, 1);
    nv(first, first + 3, 2);
    nv(first + 1, first + 2, 2);
    nv(first + 1, first + 3, 1);
    nv(first + 2, first + 3, 2);
  }
  nv(0, 4, 2);
  nv(1, 5, 2);
  nv(2, 6, 1);
  nv(3, 7, 1);
  return node;
}

}  // namespace

TEST_CASE("data goes to a far NIC over the NVLinks of a GPU near it, or from its own NIC without PXN") {
  const auto two = built_platform(nvswitch_node(4), 2, star_fabric());
  CHECK(net_way(two, 3, 4, 0) == Uses{{"node0.gpu3 -> node0.nvswitch", 1},
                                      {"node0.nvswitch -> node0.gpu0", 1},
                                      {"node0.gpu0 -> node0.plx0", 1},
                                      {"node0.plx0 -> node0.nic0", 1},
                                      {"node0.nic0 -> fabric", 1},
                                      {"fabric -> node1.nic0", 1},
                                      {"node1.nic0 -> node1.plx0", 1},
                                      {"node1.plx0 -> node1.gpu0", 1}});
  CHECK(net_way(two, 3, 4, 0, {{"NCCL_PXN_DISABLE", "1"}}).contains("node0.nic3 -> fabric"));
}

TEST_CASE("a communicator of one GPU a node uses that GPU's own NIC, and no other GPU's links") {
  // As the replicas of HSDP meet. PXN would need a GPU that is not in the communicator.
  const auto platform = built_platform(nvswitch_node(4), 2, star_fabric());
  const Routes routes{platform};
  const CollectiveWays ways{routes, nccl_settings({}), {2, 6}};
  REQUIRE_FALSE(ways.rings().empty());
  for (const auto& ring : ways.rings()) {
    for (const auto& [name, times] : uses(platform, ring.path())) {
      CAPTURE(name);
      CHECK(name.find("nvswitch") == std::string::npos);
      for (const auto* other : {"nic0", "nic1", "nic3"}) CHECK(name.find(other) == std::string::npos);
    }
  }
}

TEST_CASE("a communicator has as many ways on any nodes as on the first ones") {
  const auto platform = built_platform(nvswitch_node(4), 4, star_fabric());
  const Routes routes{platform};
  const auto ways = [&](const GpuNumbers& gpus) { return CollectiveWays{routes, nccl_settings({}), gpus}; };
  const auto first = ways({2, 6});
  const auto later = ways({10, 14});
  CHECK(later.rings().size() == first.rings().size());
  CHECK(later.paths(CollectiveKind::all_reduce, Algorithm::tree).size() ==
        first.paths(CollectiveKind::all_reduce, Algorithm::tree).size());
  for (const auto& [name, times] : uses(platform, later.rings().front().path())) {
    CAPTURE(name);
    for (const auto* other : {"nic0", "nic1", "nic3"}) CHECK(name.find(other) == std::string::npos);
  }
}

TEST_CASE("what hardly uses its links takes time alone, and as long as it would there") {
  const auto scenario = on(hopper_nodes(8, 2), 16);
  const WorldCommunicator communicator{scenario};
  const auto small = communicator->lower(CollectiveKind::all_reduce, 4_B);
  const auto large = communicator->lower(CollectiveKind::all_reduce, 1_MiB);
  CHECK(small.flows.empty());
  CHECK_FALSE(large.flows.empty());
  CHECK(small.latency > Seconds{});
  // A byte more is never faster, on either side of where flows begin.
  auto before = Seconds{};
  for (double size = 1; size < 1e6; size *= 1.3) {
    const auto time =
        time_alone(communicator->lower(CollectiveKind::all_reduce, Bytes{size}), scenario.platform);
    CAPTURE(size);
    CHECK(time >= before * (1 - 1e-12));
    before = time;
  }
}

TEST_CASE("before the A100 NICs only read GPUs of a node with NVLinks, unless told otherwise") {
  auto node = tree_node();
  PlatformDescription description;
  description.hardware = BuiltPlatform{node, 2, star_fabric(), {}};
  auto volta = round_gpu();
  volta.compute_capability = 70;
  const auto two = build_platform(description, volta, 1);
  const auto sent = net_way(two, 0, 6, 0);
  CHECK(sent.at("node0.cpu0 memory") == 2);  // the NIC may write, not read
  CHECK_FALSE(sent.contains("node1.cpu0 memory"));
  CHECK_FALSE(net_way(two, 0, 6, 0, {{"NCCL_NET_GDR_READ", "1"}}).contains("node0.cpu0 memory"));
}

TEST_CASE("without GPUDirect data bounces through host memory, and sockets copy it once more") {
  const auto direct = built_platform(nvswitch_node(2), 2, over(NetworkKind::infiniband));
  CHECK_FALSE(net_way(direct, 1, 2, 1).contains("node0.cpu0 memory"));
  const auto sockets = built_platform(nvswitch_node(2), 2, over(NetworkKind::tcp));
  CHECK(net_way(sockets, 1, 2, 1).at("node0.cpu0 memory") == 4);
  CHECK(net_way(sockets, 1, 2, 1).at("node1.cpu0 memory") == 4);
}

TEST_CASE("on rails NICs of one number meet on one leaf, and no ring needs the spines") {
  const auto platform = built_platform(nvswitch_node(4), 4, rails(4, 2));
  const auto scenario = on(platform, 16, {{"NCCL_ALGO", "Ring"}});
  const auto lowered = (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1_GiB);
  REQUIRE(lowered.flows.size() == 4);
  for (std::size_t rail = 0; rail < 4; ++rail) {
    for (const auto& [name, times] : uses(platform, lowered.flows[rail].path)) {
      CHECK(name.find("spine") == std::string::npos);
      if (name.find("leaf") == std::string::npos) continue;
      CHECK(name.find("leaf0.rail" + std::to_string(rail)) != std::string::npos);
      CHECK(times == 1);
    }
  }
}

TEST_CASE("between groups of rails the uplinks carry what crosses, so oversubscription shows") {
  const auto platform = built_platform(nvswitch_node(2), 4, rails(2, 1));
  const auto used = uses(platform, (*WorldCommunicator{on(platform, 8, {{"NCCL_ALGO", "Ring"}})})
                                       .lower(CollectiveKind::all_reduce, 1_GiB)
                                       .flows[0]
                                       .path);
  CHECK(used.at("leaf0.rail0 -> spine0") == 1);
  CHECK(used.at("leaf1.rail0 -> spine0") == 1);
}

TEST_CASE(
    "NCCL's double trees: each node is an inner node of one tree at most, so none sends more than twice") {
  const int nodes = GENERATE(2, 3, 4, 5, 8, 16, 17);
  const auto platform = built_platform(nvswitch_node(1), nodes, star_fabric());
  const auto trees = tree_edges(Routes{platform}, first_gpus(nodes));
  REQUIRE(trees.size() == 2);
  std::vector<int> sent(static_cast<std::size_t>(nodes), 0);  // in halves of the buffer
  for (const auto& edges : trees) {
    CHECK(edges.size() == static_cast<std::size_t>(nodes) - 1);
    for (const auto& [child, parent] : edges) {
      ++sent[child];
      ++sent[parent];
    }
  }
  const auto most = *std::ranges::max_element(sent);
  CHECK(most == (nodes == 2 ? 2 : nodes == 3 ? 3 : 4));
}

TEST_CASE("rings of a cube mesh follow its NVLinks and share none of them") {
  const auto platform = built_platform(cube_mesh());
  const Routes routes{platform};
  const auto rings = nvlink_rings(routes, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(rings.size() >= 4);  // of 6 that its links have room for
  std::map<std::pair<std::size_t, std::size_t>, int> taken;
  for (const auto& ring : rings) {
    CHECK(std::set<std::size_t>(ring.begin(), ring.end()).size() == 8);
    for (std::size_t i = 0; i < ring.size(); ++i) ++taken[{ring[i], ring[(i + 1) % ring.size()]}];
  }
  for (const auto& [hop, count] : taken) {
    CAPTURE(hop.first, hop.second);
    CHECK(count <= routes.nvlinks(platform.gpus[hop.first], platform.gpus[hop.second]));
  }
}

TEST_CASE("GPUs without a ring of NVLinks are visited by number") {
  NodeDescription node = tree_node();
  node.links.push_back(link("gpu0", "gpu1", LinkKind::nvlink, 50_GBps, 2));
  const auto platform = built_platform(node);
  CHECK(nvlink_rings(Routes{platform}, {0, 1, 2, 3, 4, 5}) ==
        std::vector<std::vector<std::size_t>>{{0, 1, 2, 3, 4, 5}});
}

TEST_CASE("NVLS passes each NVLink once in each direction, whatever the number of GPUs") {
  const int gpus = GENERATE(4, 8);
  const auto platform = hopper_nodes(gpus, 1);
  const auto scenario = on(platform, gpus);
  const WorldCommunicator lowering{scenario};
  CHECK(lowering->choose(CollectiveKind::all_reduce, 1_GiB).algorithm == Algorithm::nvls);
  const auto lowered = lowering->lower(CollectiveKind::all_reduce, 1_GiB);
  REQUIRE(lowered.flows.size() == 1);
  CHECK(lowered.flows[0].amount == 1_GiB);
  for (const auto& [name, times] : uses(platform, lowered.flows[0].path)) CHECK(times == 1);
  CHECK(lowered.flows[0].path.size() == 2 * static_cast<std::size_t>(gpus));
}

TEST_CASE("NVLS needs an NVSwitch and Hopper, must not be disabled, and serves all-reduce only") {
  const auto algorithm = [](const Scenario& scenario, CollectiveKind kind = CollectiveKind::all_reduce) {
    return (*WorldCommunicator{scenario}).choose(kind, 1_GiB).algorithm;
  };
  CHECK(algorithm(on(hopper_nodes(8, 1), 8)) == Algorithm::nvls);
  CHECK(algorithm(on(hopper_nodes(8, 1), 8), CollectiveKind::all_gather) == Algorithm::ring);
  CHECK(algorithm(on(hopper_nodes(8, 1), 8, {{"NCCL_NVLS_ENABLE", "0"}})) == Algorithm::ring);
  CHECK(algorithm(on(built_platform(nvswitch_node(8)), 8)) == Algorithm::ring);  // an A100's generation
  auto off = hopper_nodes(8, 1);
  off.nvls = false;
  CHECK(algorithm(on(off, 8)) == Algorithm::ring);
  CHECK(algorithm(on(hopper_nodes(8, 2), 16)) == Algorithm::nvls_tree);
}

TEST_CASE("NVLSTree between two nodes sends the buffer once over all NICs of a node together") {
  const auto platform = hopper_nodes(4, 2);
  const auto scenario = on(platform, 8, {{"NCCL_ALGO", "NVLSTree"}});
  const auto lowered = (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1_GiB);
  REQUIRE(lowered.flows.size() == 8);  // two trees a NIC
  std::map<std::string, double> carried;
  for (const auto& flow : lowered.flows)
    for (const auto resource : flow.path) carried[platform.name_of(resource)] += flow.amount.value();
  const double buffer = 1073741824;
  for (const auto* nic : {"0", "1", "2", "3"})
    CHECK(carried.at(std::string{"node0.nic"} + nic + " -> fabric") == Approx(buffer / 4));
  CHECK(carried.at("node1.gpu2 -> node1.nvswitch") == Approx(buffer));
}

TEST_CASE("switches that reduce get the buffer of a node once, over all its NICs together") {
  const double buffer = 1073741824;
  const auto carried = [](const Platform& platform, int ranks, const std::string& algorithm) {
    const auto scenario = on(platform, ranks, {{"NCCL_ALGO", algorithm}, {"NCCL_COLLNET_ENABLE", "1"}});
    std::map<std::string, double> bytes;
    for (const auto& flow : (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1_GiB).flows)
      for (const auto resource : flow.path) bytes[platform.name_of(resource)] += flow.amount.value();
    return bytes;
  };
  const int nodes = GENERATE(2, 4);
  const auto* algorithm = GENERATE("NVLS", "CollnetDirect", "CollnetChain");
  CAPTURE(nodes, algorithm);
  const auto bytes = carried(hopper_nodes(4, nodes), 4 * nodes, algorithm);
  for (const auto* nic : {"0", "1", "2", "3"}) {
    CHECK(bytes.at(std::string{"node0.nic"} + nic + " -> fabric") == Approx(buffer / 4));
    CHECK(bytes.at(std::string{"fabric -> node1.nic"} + nic) == Approx(buffer / 4));
  }
  // NVSwitches reduce: once. Direct: all but a GPU's own part goes there and back. A chain of four for each
  // NIC: all but its ends send both ways.
  const auto times = algorithm == std::string{"NVLS"} ? 1.0 : 1.5;
  CHECK(bytes.at("node1.gpu2 -> node1.nvswitch") == Approx(times * buffer));
  CHECK(bytes.at("node1.nvswitch -> node1.gpu2") == Approx(times * buffer));
}

TEST_CASE("a leaf of switches that reduce sends up what its nodes send it, once") {
  auto fabric = star_fabric();
  fabric.kind = FabricDescription::Kind::leaf_spine;
  fabric.nodes_per_leaf = 2;
  fabric.spines = 1;
  fabric.uplink_bandwidth = BytesPerSecond{12.5e9};
  const auto platform = built_platform(nvswitch_node(4), 4, fabric);
  const auto scenario = on(platform, 16, {{"NCCL_ALGO", "CollnetDirect"}, {"NCCL_COLLNET_ENABLE", "1"}});
  double up = 0;
  for (const auto& flow : (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1_GiB).flows)
    for (const auto resource : flow.path)
      if (platform.name_of(resource) == "leaf0 -> spine0") up += flow.amount.value();
  CHECK(up == Approx(1073741824));
}

TEST_CASE("switches reduce where it is asked for, all-reduces alone, and of one GPU a node, too") {
  const auto choose = [](const Platform& platform, int ranks, const char* is_on,
                         CollectiveKind kind = CollectiveKind::all_reduce) {
    const auto scenario = on(platform, ranks, {{"NCCL_COLLNET_ENABLE", is_on}});
    return (*WorldCommunicator{scenario}).choose(kind, 1_GiB).algorithm;
  };
  const auto hopper = hopper_nodes(4, 4);
  CHECK(choose(hopper, 16, "0") == Algorithm::nvls_tree);
  CHECK(is_collnet(choose(hopper, 16, "1")));
  CHECK(choose(hopper, 16, "1", CollectiveKind::all_gather) == Algorithm::ring);
  CHECK(choose(hopper, 4, "1") == Algorithm::nvls);  // one node has nothing to reduce between
  const auto older = built_platform(nvswitch_node(4), 4, star_fabric());
  CHECK(is_collnet(choose(older, 16, "1")));
  const auto alone = built_platform(nvswitch_node(1), 4, star_fabric());
  CHECK(is_collnet(choose(alone, 4, "1")));
  const auto time = [&](const char* is_on) {
    const auto scenario = on(alone, 4, {{"NCCL_COLLNET_ENABLE", is_on}});
    const auto lowered = (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1_GiB);
    return time_alone(lowered, alone);
  };
  // A ring of four sends one and a half times the buffer, at 12 of the NIC's 12.5 GB/s: a speed of NCCL's
  // list.
  CHECK(time("0") / time("1") == Approx(1.5 * 12.5 / 12).epsilon(0.01));
  CHECK_THROWS_WITH(choose(built_platform(nvswitch_node(4), 2, over(NetworkKind::roce)), 8, "1"),
                    Catch::Contains("do not reduce"));
}

TEST_CASE("what NVSwitches join is one node for NCCL, and several machines for the bill") {
  const NvlinkDomainDescription domain{{}, 2, 300_GBps, 18, {}};
  const auto platform = hopper_nodes(4, 4, domain);
  CHECK(node_count(platform, 16) == 4);
  CHECK(gpus_by_domain(platform, first_gpus(16)).size() == 2);
  const auto rack = on(platform, 8);
  const WorldCommunicator inside{rack};
  CHECK(inside->facts().nodes == 1);
  CHECK(inside->choose(CollectiveKind::all_reduce, 1_GiB).algorithm == Algorithm::nvls);
  const auto with_ring = on(platform, 8, {{"NCCL_ALGO", "Ring"}});
  const auto ring = (*WorldCommunicator{with_ring}).lower(CollectiveKind::all_reduce, 1_GiB);
  for (const auto& [name, times] : uses(platform, ring.flows.at(0).path)) {
    CHECK(name.find("nvlink_domain0") != std::string::npos);
    CHECK(times == 1);
  }
  CHECK((*WorldCommunicator{on(platform, 16)}).facts().nodes == 2);
}

TEST_CASE(
    "a TCP connection carries its window each round trip, and more streams carry more, up to the wire") {
  auto fabric = over(NetworkKind::tcp);
  fabric.network.stream_rate = BytesPerSecond{0.1e9};
  const auto platform = built_platform(nvswitch_node(1), 2, fabric);
  const auto rate = [&](std::map<std::string, std::string> variables) {
    variables["NCCL_ALGO"] = "Ring";
    variables["NCCL_MAX_NCHANNELS"] = "1";
    return (*WorldCommunicator{on(platform, 2, variables)})
        .lower(CollectiveKind::all_reduce, 1_GiB)
        .flows.at(0)
        .cap;
  };
  CHECK(rate({}) == Approx(0.1e9));
  CHECK(rate({{"NCCL_SOCKET_NTHREADS", "2"}, {"NCCL_NSOCKS_PERTHREAD", "8"}}) == Approx(1.6e9));
  CHECK(rate({{"NCCL_SOCKET_NTHREADS", "8"}, {"NCCL_NSOCKS_PERTHREAD", "8"}}) <= 6.4e9);
}

TEST_CASE("all-reduces that were measured on another machine are extrapolated", "[nccl]") {
  const auto basis = [](const std::string& machine) {
    auto scenario = on(built_platform(tree_node(), 1, star_fabric()), 6);
    scenario.calibration.collectives = {
        {CollectiveKind::all_reduce, Transport::shm, 6, 1000_MB, Seconds{2}, "test", std::nullopt, machine}};
    const auto lowered = (*WorldCommunicator{scenario}).lower(CollectiveKind::all_reduce, 1000_MB);
    CHECK(time_alone(lowered, scenario.platform).value() == Approx(2));
    return lowered.provenance.at(0).basis;
  };
  CHECK(basis("") == Basis::published);
  CHECK(basis(built_platform(tree_node(), 1, star_fabric()).name) == Basis::published);
  CHECK(basis("another machine") == Basis::elsewhere);
}

TEST_CASE("without a measurement, host memory of PCIe 4 and older is slower than NCCL's nominal rate",
          "[nccl]") {
  auto scenario = on(built_platform(tree_node(), 1, star_fabric()), 6);
  scenario.job.nccl = {{"NCCL_P2P_DISABLE", "1"}};
  const WorldCommunicator lowering{scenario};
  const auto lowered = lowering->lower(CollectiveKind::all_reduce, 1_GiB);
  const auto plan = choose_plan(CollectiveKind::all_reduce, 1_GiB, lowering->facts(), NcclSettings{});
  CHECK(lowering->choose(CollectiveKind::all_reduce, 1_GiB).algorithm_bandwidth / plan->algorithm_bandwidth ==
        Approx(4.1_GBps / lowering->facts().node_bandwidth));
  CHECK(lowered.provenance.at(0).basis == Basis::nominal);
  // Two such nodes are not faster than one.
  auto two = on(built_platform(tree_node(), 2, star_fabric()), 12);
  two.job.nccl = scenario.job.nccl;
  const auto between = (*WorldCommunicator{two}).lower(CollectiveKind::all_reduce, 1_GiB);
  CHECK(time_alone(between, two.platform) >= time_alone(lowered, scenario.platform));
  // Where some GPUs exchange directly, NCCL's rate stands.
  scenario.job.nccl.clear();
  const WorldCommunicator mixed{scenario};
  CHECK(mixed->facts().transport == Transport::shm);
  CHECK_FALSE(mixed->facts().only_host_memory);
}

TEST_CASE("a tree has as many channels between two nodes as a ring, which fills the network", "[nccl]") {
  CommunicatorFacts facts;
  facts.ranks = 16;
  facts.nodes = 2;
  facts.compute_capability = 80;
  facts.node_bandwidth = 240_GBps;
  facts.net_bandwidth = 12_GBps;
  const auto ring = search_channels(facts, {}, Algorithm::ring);
  const auto tree = search_channels(facts, {}, Algorithm::tree);
  CHECK(ring.count == 2);
  CHECK(tree.count == ring.count);
  CHECK(ring.each == 6_GBps);
  CHECK(tree.each == 20_GBps);  // half of the fastest speed that it tries before it doubles channels
}

TEST_CASE("a network's latency is paid for each message, and once more where Simple flushes") {
  CommunicatorFacts c;
  c.ranks = 2;
  c.nodes = 2;
  c.node_bandwidth = c.net_bandwidth = 12_GBps;
  const auto latency = [&](const char* protocol) {
    NcclSettings settings;
    settings.algo = "TREE";
    settings.proto = protocol;
    return choose_plan(CollectiveKind::all_reduce, 1_KiB, c, settings)->latency.value();
  };
  const auto ll = latency("LL");
  const auto simple = latency("SIMPLE");
  c.net_latency = 10_us;
  CHECK(latency("LL") - ll == Approx(20e-6));
  CHECK(latency("SIMPLE") - simple == Approx(40e-6));
}

TEST_CASE("several nodes are not faster than what was measured of one") {
  const auto time = [](int ranks, bool is_measured, const char* algorithm = "Ring") {
    auto scenario = on(built_platform(tree_node(), 2, star_fabric()), ranks, {{"NCCL_ALGO", algorithm}});
    if (is_measured) {
      scenario.calibration.collectives = {
          {CollectiveKind::all_reduce, Transport::shm, 6, 1000_MB, Seconds{2}, "test"}};
    }
    const WorldCommunicator lowering{scenario};
    return time_alone(lowering->lower(CollectiveKind::all_reduce, 1000_MB), scenario.platform);
  };
  CHECK(time(12, false) < Seconds{1});
  CHECK(time(6, true).value() == Approx(2));
  // Each hop of a ring carries 2(n-1)/n of the buffer, and so do the ranks of a tree on average.
  const auto longer = (11. / 12) / (5. / 6);
  CHECK(time(12, true).value() == Approx(2 * longer));
  CHECK(time(12, true, "Tree").value() == Approx(2 * longer));
}
