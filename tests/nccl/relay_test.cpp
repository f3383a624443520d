// SPDX-License-Identifier: Apache-2.0
// NVLinks through a GPU between two that none joins: NCCL's path type NVB.
#include <catch2/catch.hpp>

#include <map>

#include "sim/config/config.hpp"
#include "sim/nccl/nvlink_rings.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// A DGX-1 of V100: 0 is joined with 1, 2 (one link each), 3 and 4 (two), and so on.
Scenario cube_mesh_of(int ranks, const std::map<std::string, std::string>& variables = {}) {
  Scenario scenario;
  scenario.platform = load_platform("dgx-1-v100", ranks, DataPath{{GRADWAY_SOURCE_DIR}});
  scenario.job.gpus = ranks;
  scenario.job.nccl = variables;
  return scenario;
}

}  // namespace

TEST_CASE("the relay of two GPUs is joined with both, of the communicator, and by most links") {
  const auto scenario = cube_mesh_of(8);
  const Routes routes{scenario.platform};
  const GpuNumbers all{0, 1, 2, 3, 4, 5, 6, 7};
  CHECK_FALSE(nvlink_relay(routes, all, 0, 3));  // two links
  CHECK_FALSE(nvlink_relay(routes, all, 0, 1));  // one
  // 4 to 1 by 0 (two links, then one) or 5 (one, then two): of the same lesser bond that with more to the
  // second.
  CHECK(nvlink_relay(routes, all, 4, 1) == 5);
  CHECK(nvlink_relay(routes, {0, 1, 2, 3, 4}, 4, 1) == 0);  // 5 is not NCCL's to use
  CHECK(nvlink_relay(routes, {0, 1, 2, 3, 4}, 3, 4) == 0);
  CHECK_FALSE(nvlink_relay(routes, {1, 2, 3, 4}, 4, 1));
  // By 3 both bonds are double.
  CHECK(nvlink_relay(routes, {0, 1, 2, 3, 7}, 0, 7) == 3);
}

TEST_CASE("rings through relays take a link of each of both bonds, and no more than there are") {
  const auto scenario = cube_mesh_of(8);
  const Routes routes{scenario.platform};
  const auto gpus =
      GENERATE(values<GpuNumbers>({{0, 1, 2, 3, 4}, {0, 1, 2, 4}, {0, 3, 4, 7, 5}, {1, 2, 3, 5, 0, 7}}));
  const auto rings = nvlink_rings(routes, gpus);
  std::map<std::pair<std::size_t, std::size_t>, int> taken;
  for (const auto& ring : rings) {
    REQUIRE(ring.size() == gpus.size());
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const auto from = ring[i];
      const auto to = ring[(i + 1) % ring.size()];
      const auto relay = nvlink_relay(routes, gpus, from, to);
      ++taken[{from, relay.value_or(to)}];
      if (relay) ++taken[{*relay, to}];
    }
  }
  for (const auto& [hop, count] : taken) {
    CAPTURE(hop.first, hop.second, rings.size());
    CHECK(count <= routes.nvlinks(scenario.platform.gpus[hop.first], scenario.platform.gpus[hop.second]));
  }
}

TEST_CASE("five V100 of a cube mesh make two rings, of which each has a relay") {
  // GPU 4 is joined with 0 alone, by two links: there is room for two rings, which both come or go through 0.
  const auto scenario = cube_mesh_of(5);
  const WorldCommunicator communicator{scenario};
  CHECK(communicator->facts().transport == Transport::p2p);
  CHECK(communicator->facts().nvlink);
  CHECK(communicator->facts().node_bandwidth == 40_GBps);  // NCCL's 20 GB/s a link of V100
  const auto lowered = communicator->lower(CollectiveKind::all_reduce, 256_MiB);
  CHECK(lowered.flows.size() == 2);
  // Six make two rings, too, without a relay.
  const auto six = cube_mesh_of(6);
  const WorldCommunicator of_six{six};
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto bus = [&](const Communicator& one, const Scenario& of) {
    const double ranks = of.job.gpus;
    const auto time = time_alone(one, CollectiveKind::all_reduce, 256_MiB, of.platform, engine);
    return 2 * (ranks - 1) / ranks * 256_MiB / time;
  };
  CHECK(bus(*communicator, scenario) / bus(*of_six, six) == Approx(1).epsilon(0.01));
}

TEST_CASE("with relays disabled, five V100 communicate through host memory") {
  const auto variables = GENERATE(std::map<std::string, std::string>{{"NCCL_NVB_DISABLE", "1"}},
                                  std::map<std::string, std::string>{{"NCCL_P2P_LEVEL", "NVL"}},
                                  std::map<std::string, std::string>{{"NCCL_P2P_DISABLE", "1"}});
  const auto scenario = cube_mesh_of(5, variables);
  const WorldCommunicator communicator{scenario};
  CHECK(communicator->facts().transport == Transport::shm);
  const auto with = cube_mesh_of(5, {{"NCCL_NVB_DISABLE", "0"}, {"NCCL_P2P_LEVEL", "PIX"}});
  CHECK(WorldCommunicator { with } -> facts().transport == Transport::p2p);
}

TEST_CASE("a send through a relay takes both its NVLinks, at the pace of the lesser bond") {
  // From 4 to 3 by 0, two links each.
  auto scenario = cube_mesh_of(5);
  const Routes routes{scenario.platform};
  const auto hop = make_hop(routes, scenario.platform, {nccl_settings({})}, scenario.platform.gpus[4],
                            scenario.platform.gpus[3], 0, scenario.platform.gpus[0]);
  REQUIRE(hop);
  CHECK(hop->transport == Transport::p2p);
  CHECK(hop->relayed);
  REQUIRE(hop->path.size() == 2);
  CHECK(scenario.platform.name_of(hop->path[0]).find("gpu4 -> ") != std::string::npos);
  CHECK(hop->bandwidth.value() == Approx(48.3e9));
}
