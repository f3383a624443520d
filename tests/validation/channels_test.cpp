// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;

TEST_CASE("on our own node NCCL runs as many channels as its log and our traces show", "[validation]") {
  // NCCL_DEBUG=INFO: "24 coll channels"; grids of its kernels in traces of DDP: 24 over NVLink, 4 through
  // host memory.
  const std::string root = GRADWAY_SOURCE_DIR;
  const auto channels = [&](const std::vector<Override>& set) {
    const auto scenario = load_scenario(root + "/scenarios/h200-4x/vit_l_32.yaml", set, {{root}});
    return (*WorldCommunicator{scenario}).channels();
  };
  CHECK(channels({}) == 24);
  CHECK(channels({{"nccl.NCCL_P2P_DISABLE", "1"}}) == 4);
}
