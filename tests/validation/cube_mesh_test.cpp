// SPDX-License-Identifier: Apache-2.0
// Collectives that others measured on machines of the catalogue, which nothing here was fitted to.
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

Seconds all_reduce(const std::string& platform, int ranks, Bytes size) {
  Scenario scenario;
  scenario.platform = load_platform(platform, ranks, DataPath{{root}}, &scenario.calibration);
  scenario.job.gpus = ranks;
  const WorldCommunicator lowering{scenario};
  return test::time_alone(*lowering, CollectiveKind::all_reduce, size, scenario.platform, "fluid");
}

}  // namespace

TEST_CASE("a hybrid cube mesh of V100 has as many rings as its NVLinks make", "[validation][catalogue]") {
  // nccl-tests on 4 and 6 GPUs of one: two rings and one, each in both directions. The calibration has 2 GPUs
  // only. github.com/VIA-Research/vTrain at f8dda847
  const auto platform = GENERATE("azure-nd40rs-v2", "aws-p3dn.24xlarge");
  CHECK((all_reduce(platform, 4, 256_MiB) / Seconds{4.714e-3}) == Approx(1).epsilon(0.1));
  CHECK((all_reduce(platform, 4, 1_GiB) / Seconds{18.869e-3}) == Approx(1).epsilon(0.1));
  CHECK((all_reduce(platform, 6, 256_MiB) / Seconds{9.803e-3}) == Approx(1).epsilon(0.1));
  CHECK((all_reduce(platform, 6, 1_GiB) / Seconds{39.121e-3}) == Approx(1).epsilon(0.1));
}
