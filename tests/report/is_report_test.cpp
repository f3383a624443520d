// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>

#include "sim/report/points/sweep.hpp"

using gradway::report::is_report;

namespace {

std::string with_metrics(const std::string& metrics, const std::string& more = "") {
  return "{\"schema\": 1, \"fits\": true, \"doubts\": [], \"metrics\": {" + metrics + "}" + more + "}";
}

const std::string figures =
    "\"step_time_s\": 0.1, \"samples_per_s\": null, \"exposed_communication_s\": 0, "
    "\"cost_usd_per_million_samples\": 2.5";

}  // namespace

TEST_CASE("a report has figures, or null, under all the names that a sweep shows", "[report]") {
  CHECK(is_report(with_metrics(figures)));
  CHECK(is_report(with_metrics(figures, ", \"links\": [{\"name\": \"a\"}]")));
}

TEST_CASE("what is no report is not taken for one, however deep it is", "[report]") {
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "{\"a\":";
  const auto text =
      GENERATE_COPY(std::string{}, std::string{"[]"}, std::string{"{\"metrics\": {}}"}, with_metrics(""),
                    with_metrics("\"step_time_s\": 0.1"), with_metrics(figures + ", \"more\": \"text\""),
                    with_metrics(figures + ", \"more\": [1]"), "{\"metrics\": {" + figures + "}}",
                    with_metrics(figures).substr(1), deep,
                    with_metrics(figures, ", \"a\": " + deep + "1" + std::string(200000, '}')));
  CAPTURE(text.substr(0, 200));
  CHECK_FALSE(is_report(text));
}
