// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <sstream>

#include <fmt/format.h>

#include "readers/step_log/step_log.hpp"
#include "sim/base/problem.hpp"

using namespace gradway;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::vector<LoggedStep> steps_of(const std::string& text, const StepLogOptions& options = {}) {
  std::istringstream lines{text};
  return read_step_log(lines, "train.log", options);
}

/// 20 lines, each with the number of its step.
std::string repeated(const std::string& line) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += fmt::format(fmt::runtime(line), 100 + i) + "\n";
  return text;
}

}  // namespace

TEST_CASE("step times of well-known programs are read") {
  struct Example {
    std::string line;
    StepLogOptions options{};
  };
  const std::vector<Example> examples{
      {"{{\"step\": {}, \"step_time_s\": 0.1523}}"},
      {"{{\"global_step\": {}, \"loss\": 3.1, \"step_time_ms\": 152.3}}"},
      {"{{\"iteration\": {}, \"took\": 152.3}}", {.key = "took", .unit = 1_ms}},
      {" [2026-11-26 09:00:00] iteration {}/ 500000 | consumed samples: 12 | elapsed time per iteration "
       "(ms): 152.3 | "
       "learning rate: 1e-4"},
      {"iter {}: loss 3.1234, time 152.30ms, mfu 41.2%"},
      {"step {} | loss 2.2 | step time: 0.1523 s"},
      {"step={} step_time=152.3 ms"},
      {"epoch 0 step {} batch_time 0.1523", {.key = {}, .unit = 1.0_s}}};
  for (const auto& [line, options] : examples) {
    CAPTURE(line);
    const auto steps = steps_of("starting\n" + repeated(line) + "done\n", options);
    REQUIRE(steps.size() == 20);
    CHECK(steps[0].number == 100);
    CHECK(steps[19].number == 119);
    CHECK(steps[7].time.value() == Approx(0.1523).epsilon(1e-9));
  }
}

TEST_CASE("numbers, CSV and metrics are read") {
  CHECK(steps_of(repeated("{} ms")).back().time.value() == Approx(0.119));
  CHECK(steps_of(repeated("{}"), {.key = {}, .unit = 1_ms}).front().time.value() == Approx(0.1));
  const auto csv = steps_of("time,step,step_time_ms,loss\n" + repeated("2026-11-26T09:00:00,{},152.3,3.1"));
  CHECK(csv.front().number == 100);
  CHECK(csv.front().time.value() == Approx(0.1523));
  CHECK(csv.front().moment == "2026-11-26T09:00:00");
  const auto metric = steps_of("# TYPE train_step_seconds gauge\n" +
                               repeated("train_step_seconds{{rank=\"0\"}} 0.1523 17000000{}"));
  CHECK(metric.size() == 20);
  CHECK(metric.back().time.value() == Approx(0.1523));
  CHECK(metric.back().moment == "17000000119");
}

TEST_CASE("cells in quotes, semicolons and decimal commas are read", "[import]") {
  const auto quoted =
      steps_of("\"step\",\"loss, mean\",\"run - train/step_time\"\n" + repeated("{},\"3,1\",0.1523"),
               {.key = "run - train/step_time", .unit = 1.0_s});
  CHECK(quoted.size() == 20);
  CHECK(quoted.back().time.value() == Approx(0.1523));
  const auto german = steps_of("step;step_time_ms;loss\n" + repeated("{};152,3;3,1"));
  CHECK(german.size() == 20);
  CHECK(german.front().number == 100);
  CHECK(german.front().time.value() == Approx(0.1523));
}

TEST_CASE("a last line without its end and times that are not numbers are skipped", "[import]") {
  const std::string half = GENERATE("120,0.", "120,1", "120,15");
  CHECK(steps_of("step,step_time_ms\n" + repeated("{},152.3") + half).back().number == 119);
  CHECK(steps_of(repeated("step {} step_time=152.3 ms") + "step 120 step_time=0.0").size() == 20);
  CHECK(steps_of(repeated("{{\"step\": {}, \"step_time_s\": 0.1}}") + "{\"step\": 120, \"step_time_s\": 0.1}")
            .size() == 21);
  CHECK(steps_of(repeated("train_step_seconds 0.1{}") + "train_step_seconds NaN\n").size() == 20);
  CHECK(steps_of("step,step_time_ms\n" + repeated("{},152.3") + "120,nan\n121,152.3\n").back().number == 121);
}

TEST_CASE("the steps of several ranks are counted once", "[import]") {
  const std::string label = GENERATE("[rank{}]:", "{}:", "[1,{}]<stdout>:", "[default{}]:", "rank={}");
  CAPTURE(label);
  std::string text;
  for (int step = 100; step < 120; ++step) {
    for (int rank = 0; rank < 2; ++rank)
      text += fmt::format(fmt::runtime(label + " iter {}: time {}ms\n"), rank, step, 150 + rank);
  }
  const auto steps = steps_of(text);
  CHECK(steps.size() == 20);
  CHECK(steps.back().number == 119);
  CHECK(steps.back().time.value() == Approx(0.150));
  // Without labels, two lines on one step.
  std::string twice;
  for (int step = 100; step < 120; ++step)
    twice += fmt::format("iter {0} time 150ms\niter {0} time 151ms\n", step);
  CHECK(steps_of(twice).size() == 20);
  // Numbers of steps in front are no ranks, and a restarted job repeats steps.
  CHECK(steps_of(repeated("{}: loss 3.1, time 152.3ms")).size() == 20);
  CHECK(steps_of(repeated("iter {} time 150ms") + repeated("iter {} time 150ms")).size() == 40);
}

TEST_CASE("logs that leave a question open are refused") {
  CHECK_THROWS_WITH(steps_of(repeated("{}")),
                    Contains("train.log:1:1: error: the unit of the step time is unknown") &&
                        Contains("hint: give it with --unit: s, ms or us"));
  CHECK_THROWS_WITH(steps_of(repeated("loss {}")),
                    Contains("the log has 0 step times, but at least 20 are needed") &&
                        Contains("hint: name the value that has the step time with --key"));
  CHECK_THROWS_WITH(steps_of("step_time=0 ms\n"), Contains("a step time of 0 is not possible"));
  for (const auto* line : {"{\"step\": 1e300, \"step_time_s\": 0.1}\n", "step -1e19 step_time=1 ms\n"})
    CHECK_THROWS_WITH(steps_of(line), StartsWith("train.log:1:1: error: a step number of ") &&
                                          Contains(" is not possible\n") &&
                                          Contains("\n  hint: correct or remove the line"));
  CHECK(steps_of(repeated("step info {}: step_time=3 ms")).back().number == 19);
  CHECK_THROWS_WITH(steps_of("step,step_time_ms\n1e300,3\n"),
                    StartsWith("train.log:2:1: error: a step number of 1e+300 is not possible"));
  CHECK(steps_of("step,step_time_ms\n" + repeated("9007199254740{},3")).back().number == 9007199254740119);
  CHECK_THROWS_WITH(steps_of("step_seconds{rank=\"0\"} 0.1\nstep_seconds{rank=\"1\"} 0.1\n"),
                    Contains("train.log:2:1: error: the log has several series") &&
                        Contains("hint: keep the lines of one rank"));
}
