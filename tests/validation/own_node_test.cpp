// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

struct Row {
  std::string name;
  double error = 0;
};

/// Prediction over measurement, less one, of every case of a file. @param platform in place of the scenarios'
/// own
std::vector<Row> errors_of(const std::string& file, const std::string& platform = "") {
  const auto cases = load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/h200-4x/" + file, data);
  std::vector<Row> rows;
  for (auto row : cases.cases) {
    if (!platform.empty()) row.set.push_back({"platform", platform});
    const auto predicted =
        simulate(load_scenario(row.scenario_file, row.set, data)).measured.metrics.step_time;
    rows.push_back({row.name, predicted / row.measured - 1});
  }
  return rows;
}

double mean(const std::vector<Row>& rows, double (*of)(double)) {
  double sum = 0;
  for (const auto& row : rows) sum += of(row.error);
  return sum / static_cast<double>(rows.size());
}

double itself(double error) {
  return error;
}
double size(double error) {
  return std::abs(error);
}

}  // namespace

TEST_CASE(
    "the steps of both models on our own node are met within 8 %, within 3 % on average, without a bias",
    "[validation]") {
  // The best simulators of others report a mean error of 2.9 % and a worst of 8.5 %, end to end.
  // With the calibration of this very node, and with what gradway-probe measured on three others of its kind.
  const std::string platform = GENERATE("", "h200-4x-probe");
  const auto rows = errors_of("cases.yaml", platform);
  REQUIRE(rows.size() == 63);
  for (const auto& row : rows) {
    CAPTURE(platform, row.name);
    CHECK(std::abs(row.error) < 0.08);
  }
  CAPTURE(platform);
  CHECK(mean(rows, size) < 0.03);
  CHECK(std::abs(mean(rows, itself)) < 0.015);
}

TEST_CASE("other models, ranks, transports and prefetches are met within 10 %, and within 3 % on average",
          "[validation]") {
  const auto rows = errors_of("other-models.yaml");
  REQUIRE(rows.size() == 66);
  for (const auto& row : rows) {
    CAPTURE(row.name);
    // A prefetch of 3 GB a GPU runs slower than any copy that was measured alone; docs/ACCURACY.md says so.
    const bool known = row.name == "vit-shm-4-cap25-static-view-bg3000";
    CHECK(std::abs(row.error) < (known ? 0.18 : 0.10));
  }
  CHECK(mean(rows, size) < 0.03);
}
