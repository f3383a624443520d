// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "readers/fit/fit.hpp"
#include "readers/samples/read_samples.hpp"
#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;
const DataPath data{{root}};

/// What gradway-probe measured on one of three machines of 4 H200.
Calibration calibration_of(int machine) {
  const auto samples = read_samples({read_sample_file(
      fmt::format("{}/calibration/results/h200-4x/samples/machine-{}.json.gz", root, machine))});
  NodeFacts node;
  node.multiprocessors = 132;
  for (const int ranks : {2, 4}) node.channels[{Transport::p2p, ranks}] = 24;
  for (const int ranks : {2, 4}) node.channels[{Transport::shm, ranks}] = 4;
  return fit(samples, {"gradway-probe", ""}, node);
}

/// Predicted steps of the shipped cases over a transport, by name.
std::map<std::string, Seconds> steps_over(const std::string& transport, const Calibration& calibration) {
  std::map<std::string, Seconds> steps;
  for (const auto& row : load_cases(root + "/scenarios/h200-4x/cases.yaml", data).cases) {
    if (row.name.find(transport) == std::string::npos) continue;
    auto scenario = load_scenario(row.scenario_file, row.set, data);
    scenario.calibration = calibration;
    steps[row.name] = simulate(scenario).measured.metrics.step_time;
  }
  return steps;
}

}  // namespace

TEST_CASE("calibrations of different machines of one kind predict steps over NVLink within 2 % of each other",
          "[validation]") {
  const auto first = calibration_of(1);
  const auto steps = steps_over("-p2p-", first);
  REQUIRE(steps.size() == 26);
  for (const int machine : {2, 3}) {
    for (const auto& [name, step] : steps_over("-p2p-", calibration_of(machine))) {
      CAPTURE(machine, name);
      CHECK(std::abs(step / steps.at(name) - 1) < 0.02);
    }
  }
}
