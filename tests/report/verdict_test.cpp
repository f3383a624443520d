// SPDX-License-Identifier: Apache-2.0
// One verdict on memory in all that gradway says: text, report.json, the page's document, points of a sweep.
#include <sstream>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/compute/memory_range.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/page/run_document.hpp"
#include "sim/report/points/sweep.hpp"
#include "sim/report/run/explain.hpp"
#include "sim/report/run/json.hpp"
#include "sim/report/run/terminal.hpp"
#include "tests/report/made_up_run.hpp"

using namespace gradway;

TEST_CASE("text, report and page have the same verdict on memory", "[report][memory]") {
  auto run = testing::made_up_run();
  run.measured.memory.parameters = 10_GB;
  run.measured.memory.activations = 10_GB;
  auto& gpu = run.scenario.platform.gpu_models.front();
  gpu.ideal = false;
  gpu.memory = 100_GB;
  const auto range = memory_range(run.scenario, run.measured.memory);
  const auto [capacity, verdict, fits] = GENERATE_COPY(
      table<Bytes, std::string, nlohmann::ordered_json>({{range.high, "fits", true},
                                                         {range.expected, "tight", true},
                                                         {range.low, "may not fit", nullptr},
                                                         {range.low - 1_MB, "does not fit", false}}));
  gpu.memory = capacity;
  CAPTURE(verdict);

  const auto report = report::json_document(run, "1").json();
  CHECK(report["memory_verdict"] == verdict);
  CHECK(report["fits"] == fits);
  CHECK(report["does_not_fit"].is_null() == (verdict != "does not fit"));
  CHECK(report::run_document(run, run, "1", {})["report"] == report);
  CHECK(report::fits_json(memory_range(run.scenario, run.measured.memory).verdict) == fits);
  std::ostringstream text;
  report::write_text(text, run, report::Style{}, report::Detail::brief);
  CHECK(text.str().find(verdict + ": ") != std::string::npos);
  CHECK(report::json_document(Explanation{.run = run}, "1").json()["memory_verdict"] == verdict);
  CHECK(report::json_document(Explanation{.run = run}, "1").json()["fits"] == fits);

  auto point = report::read_point(report::point_of(run, "1", true).report);
  REQUIRE(point);
  point->values = {"8"};
  CHECK(name_of(point->answer.verdict) == verdict);
  std::ostringstream table;
  report::write_table(table, {"made up", {{"job.gpus", {"8"}}}, {*point}}, report::Style{});
  CHECK((table.str().find(verdict) != std::string::npos) == (verdict != "fits"));
}
