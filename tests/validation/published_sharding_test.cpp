// SPDX-License-Identifier: Apache-2.0
// Sharded training that others published, without an anchor: architectures alone.
#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

TEST_CASE("Llama 2 under FSDP1 and HSDP lies in its intervals, 7 % off on average", "[validation]") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  const auto cases =
      load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/published/fms-fsdp-llama2.yaml", data).cases;
  double sum = 0;
  for (const auto& one : cases) {
    CAPTURE(one.name);
    const auto run = simulate(load_scenario(one.scenario_file, one.set, data));
    const auto error = run.measured.metrics.step_time / one.measured - 1;
    sum += std::abs(error);
    // Compiled, A100s wait for their kernels alone.
    if (one.name.starts_with("may") && one.name.ends_with("a100")) CHECK(std::abs(error) < 0.08);
    CHECK(run.range.low <= one.measured);
    CHECK(one.measured <= run.range.high);
  }
  CHECK(sum / static_cast<double>(cases.size()) < 0.07);
}

// A guard: the goal is 8 %.
TEST_CASE("ZeRO-3 of 2021 lies in its intervals, 23 % fast whatever the number of GPUs", "[validation]") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  const auto cases =
      load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/published/megatron-zero3-a100.yaml", data)
          .cases;
  REQUIRE(cases.size() == 3);
  for (const auto& one : cases) {
    CAPTURE(one.name);
    const auto run = simulate(load_scenario(one.scenario_file, one.set, data));
    CHECK(run.measured.metrics.step_time / one.measured - 1 == Approx(0).margin(0.24));
    CHECK(run.range.low <= one.measured);
    CHECK(one.measured <= run.range.high);
  }
}

TEST_CASE("MPT on A100s comes out right in the middle, and nine of ten steps in their intervals",
          "[validation]") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  const auto cases =
      load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/published/mpt-a100.yaml", data).cases;
  REQUIRE(cases.size() == 72);
  std::vector<double> ratios;
  std::size_t inside = 0;
  for (const auto& one : cases) {
    const auto run = simulate(load_scenario(one.scenario_file, one.set, data));
    ratios.push_back(run.measured.metrics.step_time / one.measured);
    inside += run.range.low <= one.measured && one.measured <= run.range.high ? 1 : 0;
  }
  std::ranges::sort(ratios);
  CHECK(ratios[ratios.size() / 2] > 0.9);
  CHECK(ratios[ratios.size() / 2] < 1.1);
  CHECK(10 * inside >= 9 * cases.size());
}
