// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <catch2/catch.hpp>

#include "observe/watch/report.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

TEST_CASE("a watched run says whether its steps are as predicted, and what to measure if that is open",
          "[report][watch]") {
  const auto said = [](Seconds median) {
    WatchedRun run{.steps = 100,
                   .median = median,
                   .low = median,
                   .high = median,
                   .expected = ExpectedSteps{90_ms, 100_ms, 130_ms, "exposed communication (SHM)"}};
    std::ostringstream out;
    report::write_watched(out, {}, run, {});
    return out.str();
  };
  CHECK_THAT(said(104_ms), Contains("as expected? yes: 4.0 % longer than predicted\n"));
  CHECK_THAT(said(125_ms), Contains("it may be: 25.0 % longer than predicted, but inside the") &&
                               Contains("communication (SHM)"));
  CHECK_THAT(said(150_ms), Contains("no: 50.0 % longer than predicted, outside the prediction interval\n"));
  CHECK_THAT(said(80_ms), Contains("20.0 % shorter than predicted, outside the prediction interval"));
}

TEST_CASE("metrics for Prometheus have the steps as measured and as expected", "[report][watch]") {
  WatchedRun run{.steps = 100,
                 .median = 104_ms,
                 .total = 10.4_s,
                 .low = 100_ms,
                 .high = 110_ms,
                 .expected = ExpectedSteps{90_ms, 100_ms, 130_ms, ""}};
  run.findings.push_back({.kind = WatchKind::drift, .lost = 1.04_s});
  std::ostringstream out;
  report::write_metrics(out, "a \"log\"", {{.number = 7, .time = 0.5_s, .moment = ""}}, run);
  CHECK_THAT(out.str(),
             Contains("# TYPE gradway_step_time_seconds gauge\n") &&
                 Contains("gradway_step_time_seconds{log=\"a \\\"log\\\"\",quantile=\"0.5\"} 0.104\n") &&
                 Contains("gradway_last_step{log=\"a \\\"log\\\"\"} 7\n") &&
                 Contains("gradway_lost_ratio{log=\"a \\\"log\\\"\"} 0.1\n") &&
                 Contains("kind=\"drift\"} 1\n") && Contains("bound=\"high\"} 0.13\n") &&
                 Contains("gradway_measured_over_expected_ratio{log=\"a \\\"log\\\"\"} 1.04\n"));
}
