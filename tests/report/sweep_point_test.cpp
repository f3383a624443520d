// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <limits>
#include <string>

#include "sim/report/points/sweep.hpp"

using namespace gradway;
using gradway::report::read_point;

namespace {

std::string with_metrics(const std::string& metrics, const std::string& more = "") {
  return R"({"schema": 1, "scenario": {}, "interval": {"step_time_s": [0, null]}, "fits": true, "does_not_fit": null, "memory_verdict": "fits",
             "bottleneck": {"resource": "compute"}, "provenance": "measured", "basis": [], "uncertainties": [],
             "warnings": [], "metrics": {)" +
         metrics + "}" + more + "}";
}

const std::string figures =
    "\"step_time_s\": 0.1, \"samples_per_s\": null, \"exposed_communication_s\": 0, "
    "\"cost_usd_per_million_samples\": 2.5";

}  // namespace

TEST_CASE("a report has a number or null for each metric that a sweep shows", "[report]") {
  const auto point = read_point(with_metrics(figures));
  REQUIRE(point);
  const auto& metrics = point->answer.metrics;
  CHECK(metrics.step_time == 0.1_s);
  CHECK(metrics.samples_per_s == std::numeric_limits<double>::infinity());
  CHECK(metrics.exposed_communication == Seconds{});
  CHECK(metrics.cost_usd_per_million_samples == 2.5);
  CHECK(point->answer.verdict == MemoryVerdict::fits);
  auto doubtful = with_metrics(figures);
  doubtful.replace(doubtful.find(": \"fits\""), 8, ": \"may not fit\"");
  CHECK(read_point(doubtful)->answer.verdict == MemoryVerdict::may_not_fit);
  CHECK(read_point(with_metrics(figures, ", \"links\": [{\"name\": \"a\"}]")));
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
  CHECK_FALSE(read_point(text));
}
