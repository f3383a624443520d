// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <limits>
#include <string>

#include "sim/report/points/point_result.hpp"

using gradway::report::read_result;

namespace {

std::string with_metrics(const std::string& metrics, const std::string& more = "") {
  return R"({"schema": 1, "scenario": {}, "interval": {"step_time_s": [0, null]}, "fits": true, "does_not_fit": null,
             "bottleneck": {"resource": "compute"}, "provenance": "measured", "basis": [], "uncertainties": [],
             "warnings": [], "metrics": {)" +
         metrics + "}" + more + "}";
}

const std::string figures =
    "\"step_time_s\": 0.1, \"samples_per_s\": null, \"exposed_communication_s\": 0, "
    "\"cost_usd_per_million_samples\": 2.5";

}  // namespace

TEST_CASE("a report has a number or null for each metric that a sweep shows", "[report]") {
  const auto result = read_result(with_metrics(figures));
  REQUIRE(result);
  CHECK(result->figure("step_time_s") == 0.1);
  CHECK(result->figure("samples_per_s") == std::numeric_limits<double>::infinity());
  CHECK(result->known("exposed_communication_s") == 0.0);
  CHECK(result->fits_for_sure() == true);
  auto doubtful = with_metrics(figures);
  doubtful.replace(doubtful.find("\"fits\": true"), 12, "\"fits\": null");
  CHECK_FALSE(read_result(doubtful)->fits_for_sure());
  CHECK(read_result(with_metrics(figures, ", \"links\": [{\"name\": \"a\"}]")));
}

TEST_CASE("other documents are not read as reports, however deeply nested", "[report]") {
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "{\"a\":";
  const auto text =
      GENERATE_COPY(std::string{}, std::string{"[]"}, std::string{"{\"metrics\": {}}"}, with_metrics(""),
                    with_metrics("\"step_time_s\": 0.1"), with_metrics(figures + ", \"more\": \"text\""),
                    with_metrics(figures + ", \"more\": [1]"), "{\"metrics\": {" + figures + "}}",
                    with_metrics(figures).substr(1), deep,
                    with_metrics(figures, ", \"a\": " + deep + "1" + std::string(200000, '}')));
  CAPTURE(text.substr(0, 200));
  CHECK_FALSE(read_result(text));
}
