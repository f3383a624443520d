// SPDX-License-Identifier: Apache-2.0
// Steps of models that nobody had measured: no anchor, no profile (own runs on one H100 and one H200,
// 2026-11-22). What is predicted rests on kernels timed one by one, on the datasheet, and on one figure for
// the CPU. data/unmeasured-steps-*.jsonl.gz has these runs in full: phases, CPU times, memory, saved tensors
// by shape, kernels by name.
#include <cmath>
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/compute/compute_costs.hpp"
#include "sim/config/config.hpp"
#include "sim/plan/memory.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

struct Errors {
  int cases = 0;
  int inside = 0;
  double sum = 0;
  double bias = 0;
  double worst = 0;
};

Errors errors_of(const std::string& file) {
  Errors errors;
  for (const auto& one : load_cases(root + "/scenarios/unmeasured/" + file, DataPath{{root}}).cases) {
    const auto scenario = load_scenario(one.scenario_file, one.set, DataPath{{root}});
    CAPTURE(file, one.name);
    REQUIRE(scenario.model.anchors.empty());
    const auto run = simulate(scenario);
    const auto error = run.measured.metrics.step_time / one.measured - 1;
    ++errors.cases;
    errors.inside += run.range.low <= one.measured && one.measured <= run.range.high;
    errors.sum += std::abs(error);
    errors.bias += error;
    errors.worst = std::max(errors.worst, std::abs(error));
  }
  return errors;
}

}  // namespace

TEST_CASE("steps that the GPU bounds are met within 4 % on average and 12 % at worst", "[validation]") {
  const auto errors = errors_of("cases.yaml");
  CAPTURE(errors.sum / errors.cases, errors.worst, errors.bias / errors.cases);
  REQUIRE(errors.cases == 54);
  CHECK(errors.sum / errors.cases < 0.04);
  CHECK(std::abs(errors.bias / errors.cases) < 0.02);
  CHECK(errors.worst < 0.12);
  CHECK(errors.inside >= 0.9 * errors.cases);
}

TEST_CASE("steps that the CPU bounds are met as well as hosts agree", "[validation]") {
  const auto errors = errors_of("launches.yaml");
  CAPTURE(errors.sum / errors.cases, errors.worst, errors.bias / errors.cases);
  REQUIRE(errors.cases == 18);
  // One of the two hosts was the slowest that we have seen: the same program took 1.7 times as long there.
  CHECK(errors.sum / errors.cases < 0.25);
  CHECK(errors.worst < 0.5);
  CHECK(errors.inside >= 0.9 * errors.cases);
}

TEST_CASE("memory of models by their shape is met within 5 %, on average within 2 %", "[validation]") {
  // torch.cuda.max_memory_allocated of a step, by the batch, precision and optimizer of the same runs
  std::ifstream file{root + "/tests/validation/data/unmeasured-memory.jsonl"};
  int rows = 0;
  double sum = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    std::vector<Override> set;
    for (const auto& [key, value] : row.at("set").items()) set.push_back({key, value.get<std::string>()});
    const auto scenario = load_scenario(root + "/scenarios/unmeasured/h100.yaml", set, DataPath{{root}});
    const auto predicted =
        memory_use(scenario, compute_costs(scenario).memory, *make_sync(scenario)).allocated().value();
    const auto error = predicted / row.at("peak_bytes").get<double>() - 1;
    CAPTURE(line, predicted, error);
    CHECK(std::abs(error) < 0.05);
    sum += std::abs(error);
  }
  REQUIRE(rows >= 30);
  CHECK(sum / rows < 0.02);
}
