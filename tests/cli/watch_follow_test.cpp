// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::string steps(int first, int last, double seconds) {
  std::string lines;
  for (int step = first; step < last; ++step)
    lines += fmt::format("{{\"step\": {}, \"step_time_s\": {}}}\n", step, seconds + 0.001 * (step % 3));
  return lines;
}

}  // namespace

TEST_CASE("a log that grows is followed, and each finding is reported once", "[cli][watch]") {
  const TemporaryFolder folder;
  folder.write("steps.jsonl", steps(0, 10, 0.15));  // too few to say anything
  std::thread job{[&] {
    std::ofstream log{folder.path() / "steps.jsonl", std::ios::app};
    for (const auto& [first, last, seconds] : {std::tuple{10, 30, 0.15}, {30, 45, 0.2}, {45, 60, 0.2}}) {
      std::this_thread::sleep_for(std::chrono::milliseconds{700});
      log << steps(first, last, seconds) << std::flush;
    }
  }};
  const auto outcome = run_gradway({"watch", "steps.jsonl", "--follow", "--idle", "2s", "--alert",
                                    "cat >> alerts", "--metrics", "steps.prom", "--max-lost", "5%"},
                                   {.folder = folder.path()});
  job.join();
  CHECK(outcome.status == 4);
  CHECK_THAT(outcome.errors, StartsWith("waiting: the log has 10 step times, but at least 20 are needed\n") &&
                                 Contains("of the time is lost, more than the limit of 5 %"));
  CHECK_THAT(outcome.output,
             StartsWith("from step 30 on, steps take 200.9 ms instead of 151 ms (+33.04 %), for 30"));
  CHECK_THAT(outcome.output, Contains("\nno step for 2 s, since step 59\n"));
  CHECK(outcome.output.find("from step", 1) == std::string::npos);  // once
  const auto alerts = content_of(folder.path() / "alerts");
  CHECK_THAT(alerts, StartsWith("steps.jsonl: from step 30 on") && Contains("steps.jsonl: no step for 2 s"));
  const auto metrics = content_of(folder.path() / "steps.prom");
  CHECK_THAT(metrics, Contains("gradway_steps{log=\"steps.jsonl\"} 60\n") &&
                          Contains("gradway_findings{log=\"steps.jsonl\",kind=\"jump\"} 1\n"));
}

TEST_CASE("a log that never has steps ends with what it lacks", "[cli][watch]") {
  const TemporaryFolder folder;
  folder.write("empty.log", "");
  const auto empty =
      run_gradway({"watch", "empty.log", "--follow", "--idle", "1s"}, {.folder = folder.path()});
  CHECK(empty.status == 2);
  CHECK_THAT(empty.errors, StartsWith("empty.log: error: no line has come\n"));
  folder.write("few.log", "iter 1: time 20ms\n");
  const auto few = run_gradway({"watch", "few.log", "--follow", "--idle", "1s"}, {.folder = folder.path()});
  CHECK(few.status == 2);
  CHECK_THAT(few.errors, Contains("error: the log has 1 step times, but at least 20 are needed"));
}
