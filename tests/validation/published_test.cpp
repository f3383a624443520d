// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

struct Row {
  std::string name;
  double measured = 0;
  double predicted = 0;
  double anchor = 0;  ///< the same source's step on one GPU, which is what perfect scaling would take

  double error() const { return predicted / measured - 1; }
  double error_of_anchor() const { return anchor / measured - 1; }
};

std::vector<Row> published() {
  const DataPath data{{GRADWAY_SOURCE_DIR}};
  const auto cases = load_cases(GRADWAY_SOURCE_DIR "/scenarios/published/ddp-scaling.yaml", data);
  std::vector<Row> rows;
  for (const auto& row : cases.cases) {
    const auto scenario = load_scenario(row.scenario_file, row.set, data);
    rows.push_back({row.name, row.measured.value(), simulate(scenario).measured.metrics.step_time.value(),
                    scenario.model.anchors.back().step_time.value()});
  }
  return rows;
}

double median_abs(const std::vector<Row>& rows, const std::function<double(const Row&)>& error) {
  std::vector<double> errors;
  for (const auto& row : rows) errors.push_back(std::abs(error(row)));
  std::ranges::sort(errors);
  return errors[errors.size() / 2];
}

}  // namespace

TEST_CASE("published DDP runs scale as predicted: half of them within 3 %", "[validation]") {
  const auto rows = published();
  REQUIRE(rows.size() == 153);
  CHECK(median_abs(rows, &Row::error) < 0.03);
}

TEST_CASE("published DDP runs are predicted better than by perfect scaling", "[validation]") {
  auto rows = published();
  CHECK(median_abs(rows, &Row::error) < 0.7 * median_abs(rows, &Row::error_of_anchor));
  std::erase_if(rows, [](const Row& row) { return row.measured < 1.05 * row.anchor; });
  REQUIRE(rows.size() > 50);
  CHECK(median_abs(rows, &Row::error) < 0.07);
  CHECK(median_abs(rows, &Row::error_of_anchor) > 0.08);  // or these rows would tell nothing
}
