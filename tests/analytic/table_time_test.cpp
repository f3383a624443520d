// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/tolerances.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

const std::map<Transport, std::map<std::string, std::string>> variables{
    {Transport::p2p, {}},
    {Transport::shm, {{"NCCL_P2P_DISABLE", "1"}}},
    {Transport::net, {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}}}};

}  // namespace

TEST_CASE("on idle links a collective takes exactly the time of the calibration's tables", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto transport = GENERATE(Transport::p2p, Transport::shm, Transport::net);
  const int ranks = GENERATE(2, 3, 4);
  const auto kind = GENERATE(CollectiveKind::all_reduce, CollectiveKind::broadcast);
  Scenario scenario;
  scenario.platform = load_platform("h200-4x", 4, DataPath{{GRADWAY_SOURCE_DIR}}, &scenario.calibration);
  scenario.job.gpus = ranks;
  scenario.job.nccl = variables.at(transport);
  const WorldCommunicator lowering{scenario};
  const CollectiveTables tables{scenario.calibration, transport, lowering->facts(), NcclSettings{}};
  REQUIRE(lowering->facts().transport == transport);

  // 4 and 16 MiB over host memory are faster than its rate allows: the caches of the CPU serve them.
  for (const auto size : {1_KiB, 64_KiB, 1_MiB, 4_MiB, 16_MiB, 33_MB, 256_MiB, 2_GiB}) {
    const auto expected = tables.time(kind, size, lowering->choose(kind, size));
    REQUIRE(expected);
    CAPTURE(engine, static_cast<int>(transport), ranks, size.value());
    CHECK(time_alone(*lowering, kind, size, scenario.platform, engine).value() ==
          Approx(expected->time.value()).epsilon(tolerance::closed_form));
  }
}
