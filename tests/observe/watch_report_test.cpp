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
