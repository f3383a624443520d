// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/config/config.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};
const std::string folder = std::string{GRADWAY_SOURCE_DIR} + "/scenarios/published/";

struct ValidationCase {
  std::string name;
  int nodes = 1;
  Bytes size{};
  double error = 0;  ///< of the bus bandwidth
};

ValidationCase compare(const Case& row) {
  const auto run = simulate(load_scenario(row.scenario_file, row.set, data));
  const auto& strategy = std::get<OneCollective>(run.scenario.job.strategy);
  const auto predicted = *run.measured.metrics.bus_bandwidth;
  const auto measured = row.bus_bandwidth
                            ? *row.bus_bandwidth
                            : bus_factor(strategy.kind, run.scenario.job.gpus) * strategy.size / row.measured;
  return {row.name, run.scenario.platform.nodes, strategy.size, predicted / measured - 1};
}

double most(const ValidationCase& row) {
  if (row.size == 1_MiB) return 0.40;
  return row.nodes == 1 ? 0.15 : 0.20;
}

}  // namespace

TEST_CASE("published bus bandwidths: 15 % on a node and 20 % on several from 1 GiB on, 40 % at 1 MiB",
          "[validation]") {
  int checked = 0;
  for (const auto& row : load_cases(folder + "collectives.yaml", data).cases) {
    if (row.name.starts_with("pcie-")) continue;  // boxes without NVLink: no bound
    const auto result = compare(row);
    if (result.size != 1_MiB && result.size < 1_GiB) continue;
    CAPTURE(result.name, result.error);
    CHECK(std::abs(result.error) <= most(result));
    ++checked;
  }
  CHECK(checked >= 25);
}

TEST_CASE("GPUDirect RDMA off makes one InfiniBand card for 8 V100 about half as slow again",
          "[validation]") {
  const auto time = [](const std::vector<Override>& set) {
    auto all = set;
    all.push_back({"platform", "pcie-8x-v100-ib"});
    all.push_back({"job.gpus", "16"});
    return simulate(load_scenario(folder + "all-reduce.yaml", all, data)).measured.metrics.step_time;
  };
  const auto on = time({{"nccl.NCCL_NET_GDR_READ", "1"}});
  const auto off = time({{"nccl.NCCL_NET_GDR_READ", "0"}});
  CHECK(off / on > 1.25);  // measured: 9.24 / 6.12 = 1.51 (github.com/NVIDIA/nccl issue 371)
  CHECK(off / on < 1.85);
}
