// SPDX-License-Identifier: Apache-2.0
// Steps of sharded training that we measured on two GPUs, from profiles of one GPU.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/compute/compute_costs.hpp"
#include "sim/config/config.hpp"
#include "sim/plan/memory.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

struct Row {
  Seconds measured;
  Seconds predicted;
  bool is_inside;

  double error() const { return predicted / measured - 1; }
};

std::map<std::string, Row> rows_of(const std::string& file) {
  std::map<std::string, Row> rows;
  for (const auto& one : load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/" + file, data).cases) {
    const auto run = simulate(load_scenario(one.scenario_file, one.set, data));
    const bool is_inside = run.range.low <= one.measured && one.measured <= run.range.high;
    rows.emplace(one.name, Row{one.measured, run.measured.metrics.step_time, is_inside});
  }
  return rows;
}

double mean_error(const std::map<std::string, Row>& rows) {
  double sum = 0;
  for (const auto& [name, row] : rows) sum += std::abs(row.error());
  return sum / static_cast<double>(rows.size());
}

double inside(const std::map<std::string, Row>& rows) {
  double count = 0;
  for (const auto& [name, row] : rows) count += row.is_inside ? 1 : 0;
  return count / static_cast<double>(rows.size());
}

}  // namespace

TEST_CASE("sharded steps on two H200 are met within 8 %, and within 3 % on average", "[validation]") {
  const auto rows = rows_of("h200-2x/sharded.yaml");
  REQUIRE(rows.size() == 30);
  for (const auto& [name, row] : rows) {
    CAPTURE(name);
    CHECK(std::abs(row.error()) < 0.08);
  }
  CHECK(mean_error(rows) < 0.03);
}

TEST_CASE("sharded steps on two H100 are met within 8 %, and within 4 % on average", "[validation]") {
  const auto rows = rows_of("h100-2x/sharded.yaml");
  REQUIRE(rows.size() == 24);
  for (const auto& [name, row] : rows) {
    CAPTURE(name);
    CHECK(std::abs(row.error()) < 0.08);
  }
  CHECK(mean_error(rows) < 0.04);
}

TEST_CASE("steps that the CPU bounds are inside their intervals nine times of ten", "[validation]") {
  const auto rows = rows_of("h200-2x/sharded-noisy.yaml");
  REQUIRE(rows.size() == 42);
  CHECK(inside(rows) >= 0.9);
}

TEST_CASE("the peak of sharded steps is met within 7 %, and within 3 % on average, from architectures",
          "[validation]") {
  // Of two H200. GPTs in fp32 are left out: their loop kept no logits, which our models do.
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/tests/validation/data/sharded-memory.jsonl"};
  double sum = 0;
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    std::vector<Override> set;
    for (const auto& [key, value] : row.at("set").items()) set.push_back({key, value.get<std::string>()});
    const auto scenario = load_scenario("h200-2x/gpt_1b3", set, data);
    const auto predicted =
        memory_use(scenario, compute_costs(scenario).memory, *make_sync(scenario)).allocated().value() / 1e9;
    const auto error = predicted / row.at("peak_gb").get<double>() - 1;
    CAPTURE(line, predicted);
    CHECK(std::abs(error) < 0.07);
    sum += std::abs(error);
  }
  REQUIRE(rows == 41);
  CHECK(sum / rows < 0.03);
}

TEST_CASE("the peak of steps that share the loss over two H200 is met within 2 %", "[validation]") {
  // Our own runs of a GPT with 1.4 billion parameters, PyTorch 2.11, loss_parallel; the goal is 7 %.
  const auto [precision, batch, sequence, peak_gb] =
      GENERATE(table<std::string, std::string, std::string, double>({{"fp32", "4", "false", 19.273474560},
                                                                     {"fp32", "4", "true", 18.450588160},
                                                                     {"bf16", "4", "false", 11.358708224},
                                                                     {"bf16", "4", "true", 10.947387904},
                                                                     {"bf16", "16", "false", 27.877368320},
                                                                     {"bf16", "16", "true", 26.231038464}}));
  std::vector<Override> set{{"job.batch_per_gpu", batch}, {"parallel.sequence", sequence}};
  if (precision == "bf16") set.push_back({"job.state_dtype", precision});
  const auto run = simulate(load_scenario("h200-2x/parallel-gpt_1b3", set, data));
  const auto predicted = run.measured.memory.allocated().value() / 1e9;
  CAPTURE(precision, batch, sequence, predicted);
  CHECK(predicted / peak_gb == Approx(1).margin(0.02));
}

TEST_CASE("resharding, wrapping and accumulation change a step in the measured direction", "[validation]") {
  // Pairs of the same machine whose measured steps differ by more than 2 %.
  auto rows = rows_of("h200-2x/sharded.yaml");
  rows.merge(rows_of("h200-2x/sharded-noisy.yaml"));
  rows.merge(rows_of("h100-2x/sharded.yaml"));
  const std::vector<std::pair<const char*, const char*>> endings{
      {"", "-noreshard"}, {"", "-wrap4"}, {"-accum4", "-accum4-nosync"}};
  int pairs = 0;
  for (const auto& [name, row] : rows) {
    for (const auto& [without, with] : endings) {
      if (!name.ends_with(without)) continue;
      const auto other = rows.find(name.substr(0, name.size() - std::string{without}.size()) + with);
      if (other == rows.end()) continue;
      const double measured = other->second.measured / row.measured;
      if (std::abs(measured - 1) < 0.02) continue;
      CAPTURE(name, with, measured, other->second.predicted / row.predicted);
      CHECK((measured < 1) == (other->second.predicted / row.predicted < 1));
      ++pairs;
    }
  }
  CHECK(pairs == 14);
}
