// SPDX-License-Identifier: Apache-2.0
// Wirings of NICs: rails with and without switches that join them, several NICs of a node on a leaf.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "sim/nccl/alone_time.hpp"
#include "sim/nccl/collective_ways.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

using Kind = FabricDescription::Kind;
using Variables = std::map<std::string, std::string>;

constexpr int gpus_of_node = 4;
constexpr double buffer = 1073741824;

struct Wiring {
  Kind kind = Kind::rail_optimised;
  int nics_per_leaf = 1;
  int spines = 1;
  int nodes_per_leaf = 0;
};

/// Nodes of four GPUs, each with a NIC of 12.5 GB/s.
Platform wired(const Wiring& wiring, int nodes) {
  auto fabric = star_fabric();
  fabric.kind = wiring.kind;
  fabric.nics_per_leaf = wiring.nics_per_leaf;
  fabric.nodes_per_leaf = wiring.nodes_per_leaf;
  fabric.spines = wiring.spines;
  fabric.uplink_bandwidth = BytesPerSecond{12.5e9};
  return built_platform(nvswitch_node(gpus_of_node), nodes, fabric);
}

const Wiring rail_only{.kind = Kind::rail_only, .spines = 0};
const Variables without_pxn{{"NCCL_PXN_DISABLE", "1"}};

struct Lowered {
  std::map<std::string, double> carried;  ///< bytes by link
  Seconds time{};

  double on(const std::string& link) const {
    const auto found = carried.find(link);
    return found == carried.end() ? 0 : found->second;
  }
  double of_spines() const {
    double sum = 0;
    for (const auto& [name, bytes] : carried)
      if (name.find("spine") != std::string::npos) sum += bytes;
    return sum;
  }
};

Lowered lowered(const Wiring& wiring, int nodes, CollectiveKind kind, Variables variables = {}) {
  Scenario scenario;
  scenario.platform = wired(wiring, nodes);
  scenario.job.gpus = nodes * gpus_of_node;
  variables["NCCL_ALGO"] = "Ring";
  scenario.job.nccl = variables;
  const WorldCommunicator communicator{scenario};
  const auto collective = communicator->lower(kind, Bytes{buffer});
  Lowered result;
  for (const auto& flow : collective.flows)
    for (const auto resource : flow.path)
      result.carried[scenario.platform.name_of(resource)] += flow.amount.value();
  result.time = time_alone(collective, scenario.platform);
  return result;
}

Lowered all_reduce(const Wiring& wiring, int nodes, const Variables& variables = {}) {
  return lowered(wiring, nodes, CollectiveKind::all_reduce, variables);
}
Lowered all_to_all(const Wiring& wiring, int nodes, const Variables& variables = {}) {
  return lowered(wiring, nodes, CollectiveKind::all_to_all, variables);
}

}  // namespace

TEST_CASE("rings stay on their rails, so that an all-reduce takes as long on every wiring", "[rails]") {
  const int nodes = GENERATE(2, 3, 4);
  const double ranks = nodes * gpus_of_node;
  const auto joined = all_reduce({}, nodes);
  // A ring for each NIC, which passes each node once.
  const auto of_nic = 2 * (ranks - 1) / ranks * buffer / gpus_of_node;
  CHECK(joined.on("node1.nic2 -> leaf0.rail2") == Approx(of_nic));
  for (const auto& wiring :
       {rail_only, Wiring{.nics_per_leaf = 2},
        Wiring{.kind = Kind::rail_only, .nics_per_leaf = 2, .spines = 0}, Wiring{.kind = Kind::leaf_spine}}) {
    const auto other = all_reduce(wiring, nodes);
    CHECK(other.time == joined.time);
    CHECK(other.of_spines() == 0);
  }
}

TEST_CASE("with PXN an all-to-all needs no switch that joins rails", "[rails]") {
  const auto joined = all_to_all({}, 2);
  const auto separate = all_to_all(rail_only, 2);
  CHECK(separate.time == joined.time);
  CHECK(joined.of_spines() == 0);
  // A NIC sends the parts for the GPU of its number on the other node, an eighth from each GPU of its own.
  CHECK(separate.on("node0.nic1 -> leaf0.rail1") == Approx(gpus_of_node * buffer / 8));
}

TEST_CASE("without PXN an all-to-all crosses rails through the spines, if there are any", "[rails]") {
  // Of each GPU's four parts for the other node three are for other rails; two nodes share a leaf.
  const auto joined = all_to_all({}, 2, without_pxn);
  CHECK(joined.on("leaf0.rail1 -> spine0") == Approx(2 * 3 * buffer / 8));
  CHECK(joined.time.value() == Approx(2 * 3 * buffer / 8 / 12.5e9).epsilon(0.01));
  // Two rails on a leaf: two of the four parts of each of the four GPUs.
  const auto pairs = all_to_all({.nics_per_leaf = 2}, 2, without_pxn);
  CHECK(pairs.on("leaf0.rail1 -> spine0") == Approx(4 * 2 * buffer / 8));
  CHECK(all_to_all({.nics_per_leaf = 4}, 2, without_pxn).of_spines() == 0);
  CHECK(all_to_all({.kind = Kind::leaf_spine}, 2, without_pxn).of_spines() == 0);
  CHECK_THROWS_WITH(all_to_all(rail_only, 2, without_pxn),
                    Catch::Contains("no network path from node1.gpu1 to node0.gpu0") &&
                        Catch::Contains("no switch joins the rails of node1.nic1 and node0.nic0") &&
                        Catch::Contains("NCCL_PXN_DISABLE"));
}

TEST_CASE("NCCL_CROSS_NIC 0 keeps data on the receiver's rail without NVLinks, through the host", "[rails]") {
  auto variables = without_pxn;
  variables["NCCL_CROSS_NIC"] = "0";
  const auto pairs = all_to_all(rail_only, 2, variables);
  CHECK(pairs.on("node0.nic1 -> leaf0.rail1") == Approx(gpus_of_node * buffer / 8));
  CHECK(pairs.on("node0.plx0 -> node0.cpu0") > 0);
  const auto rings = all_reduce(rail_only, 3, variables);
  CHECK(rings.on("node0.nic1 -> leaf0.rail1") == Approx(2 * 11. / 12 * buffer / gpus_of_node));
  CHECK(rings.on("node0.plx0 -> node0.cpu0") > 0);
}

TEST_CASE("rings without PXN alternate between two rails, which an odd number of nodes cannot close",
          "[rails]") {
  for (const int nodes : {2, 4}) {
    const auto rings = all_reduce(rail_only, nodes, without_pxn);
    const double ranks = nodes * gpus_of_node;
    for (const auto* rail : {"0", "1", "2", "3"})
      CHECK(rings.on(std::string{"node0.nic"} + rail + " -> leaf0.rail" + rail) ==
            Approx(2 * (ranks - 1) / ranks * buffer / gpus_of_node));
    CHECK(rings.on("node0.plx0 -> node0.cpu0") == 0);
    CHECK(all_reduce({}, nodes, without_pxn).of_spines() == 0);
  }
  CHECK_THROWS_WITH(all_reduce(rail_only, 3, without_pxn), Catch::Contains("no switch joins the rails"));
  CHECK(all_reduce({}, 3, without_pxn).of_spines() > 0);
  CHECK(all_reduce({.nics_per_leaf = 2}, 3, without_pxn).of_spines() == 0);
}

TEST_CASE("with NCCL_CROSS_NIC 1 rings leave by the NIC of their last GPU and cross rails", "[rails]") {
  const Variables crossing{{"NCCL_CROSS_NIC", "1"}};
  CHECK(all_reduce({}, 2, crossing).of_spines() > 0);
  CHECK_THROWS_WITH(all_reduce(rail_only, 2, crossing), Catch::Contains("no switch joins the rails"));
  CHECK(all_to_all({}, 2, crossing).of_spines() == 0);  // pairs have PXN
}

TEST_CASE("a group of some GPUs of each node uses their rails, and forwards among its own GPUs", "[rails]") {
  const auto platform = wired(rail_only, 2);
  const Routes routes{platform};
  const CollectiveWays ways{routes, nccl_settings({}), {2, 3, 6, 7}};
  std::map<std::string, int> uses;
  for (const auto& ring : ways.rings())
    for (const auto resource : ring.path()) ++uses[platform.name_of(resource)];
  for (const auto& pair : ways.pairs())
    for (const auto resource : pair.path) ++uses[platform.name_of(resource)];
  CHECK(ways.rings().size() == 2);
  CHECK(uses.contains("node0.nic2 -> leaf0.rail2"));
  CHECK(uses.contains("node0.nic3 -> leaf0.rail3"));
  for (const auto* other : {"gpu0", "gpu1", "nic0", "nic1"}) {
    for (const auto& [name, times] : uses) {
      CAPTURE(name);
      CHECK(name.find(other) == std::string::npos);
    }
  }
}

TEST_CASE("a rail of several leaves has spines of its own", "[rails]") {
  const Wiring two_tiers{.kind = Kind::rail_only, .spines = 2, .nodes_per_leaf = 1};
  const auto rings = all_reduce(two_tiers, 2);
  CHECK(rings.on("leaf0.rail1 -> rail1.spine1") == Approx(2 * 7. / 8 * buffer / gpus_of_node));
  CHECK(rings.time == all_reduce({.spines = 4, .nodes_per_leaf = 1}, 2).time);
  CHECK_THROWS_WITH(all_to_all(two_tiers, 2, without_pxn), Catch::Contains("no switch joins the rails"));
}
