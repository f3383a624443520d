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
  const auto assumed = steps_of(repeated("{}"), {.assumes_seconds = true});
  CHECK(assumed.front().is_unit_assumed);
  CHECK(assumed.front().time == 100.0_s);
  CHECK_FALSE(steps_of(repeated("{} ms"), {.assumes_seconds = true}).front().is_unit_assumed);
  CHECK_THROWS_WITH(steps_of(repeated("loss {}")),
                    Contains("the log has 0 step times, but at least 20 are needed") &&
                        Contains("hint: name the value that has the step time with --key"));
  CHECK_THROWS_WITH(steps_of("step_time=0 ms\n"), Contains("a step time of 0 is not possible"));
  for (const auto* line : {"{\"step\": 1e300, \"step_time_s\": 0.1}\n", "step -1e19 step_time=1 ms\n"})
    CHECK_THROWS_WITH(steps_of(line), StartsWith("train.log:1:1: error: a step number of ") &&
                                          Contains(" is not possible\n") &&
                                          Contains("\n  hint: correct or remove the line"));
  CHECK(steps_of(repeated("step info {}: step_time=3 ms")).back().number == 20);
  CHECK_THROWS_WITH(steps_of("step,step_time_ms\n1e300,3\n"),
                    StartsWith("train.log:2:1: error: a step number of 1e+300 is not possible"));
  CHECK(steps_of("step,step_time_ms\n" + repeated("9007199254740{},3")).back().number == 9007199254740119);
  CHECK_THROWS_WITH(steps_of("step_seconds{rank=\"0\"} 0.1\nstep_seconds{rank=\"1\"} 0.1\n"),
                    Contains("train.log:2:1: error: the log has several series") &&
                        Contains("hint: keep the lines of one rank"));
}

TEST_CASE("formats of trainers give the time of a step", "[import]") {
  struct Example {
    std::string line;
    std::optional<double> batch{};
    double seconds = 2.0;
  };
  const std::vector<Example> examples{
      {"[rank0]:\x1b[31mstep: {}  \x1b[32mloss:  8.1  memory: 40GiB(51%)  tps: 8,192  mfu: 41%", 16384},
      {"epoch=0/micro_step=1/global_step={}, RunningAvgSamplesPerSec=27.7, CurrSamplesPerSec=32.0", 64},
      {"iteration 0/99 | global_step: {} | train_step_timing in s: 2.000 | consumed_samples: 128"},
      {"completed step: {}, seconds: 2.000, TFLOP/s/device: 312.5, Tokens/s/device: 7092.3, loss: 1.0"},
      {"iteration: {} / 900 | elapsed_time_per_iteration_ms: 2.00K | tokens_per_sec: 56.7K"},
      {"Epoch: [0]  [{}/5004]  eta: 1:02:12  img/s: 25.8  time: 2.0000  data: 0.0301  max mem: 10100"},
      {"Epoch: [0][{}/5005]\tTime  2.000 (  2.402)\tData  0.012 ( 0.310)\tLoss 6.9e+00 (6.9e+00)"},
      {"01/01 10:00:00 - mmengine - INFO - Iter(train) [{}/80000]  eta: 1 day  time: 2.0000  data_time: "
       "0.008"},
      {"Train: 0 [{}/1251 (  4%)]  Loss: 6.9 (6.9)  Time: 2.000s,  128.00/s  LR: 1e-06  Data: 0.012 (0.013)"},
      {" 9%|#  | {}/900 [00:18<02:46,  2.00s/it, loss=2.31]"},
      {"Epoch 0:   9%|#  | {}/900 [00:01<02:10,  0.50it/s, v_num=3, train_loss=2.31]"},
      {"step: {}  acc: 0  loss:  3.1  wps: 1.2e+04  iter: 2.0000  data: 0.0010"},
      {"[step={}/1000,epoch=1]\n    throughput/device/BPS=0.5\n    throughput/device/TPS=8,192"},
      {"[batch={}/4800]:\n\t Train time/batch: 7\n\t Train throughput/batches_per_sec: 0.5000"},
      {"{{\"step\": {}, \"loss\": 2.0, \"tokens_per_second\": 8192.0}}", 16384}};
  for (const auto& [line, batch, seconds] : examples) {
    CAPTURE(line);
    const auto steps = steps_of(repeated(line), {.key = {}, .unit = {}, .batch = batch});
    REQUIRE(steps.size() == 20);
    CHECK(steps[0].number == 100);
    CHECK(steps[19].number == 119);
    CHECK(steps[7].time.value() == Approx(seconds).epsilon(1e-9));
  }
}

TEST_CASE("times since the start become steps, and exports are read by their columns", "[import]") {
  std::string totals;
  std::string wall = "Wall time,Step,Value\n";
  std::string runs = "\"Step\",\"run - train/step_time_s\",\"run - train/step_time_s__MIN\"\n";
  for (int i = 1; i <= 21; ++i) {
    totals += fmt::format("step:{}/1750 train_time:{}ms step_avg:2000.00ms\n", i, 2000 * i);
    wall += fmt::format("{},{},2.31\n", 1'700'000'000 + 2 * i, i);
    runs += fmt::format("\"{}\",\"2.0\",\"1.0\"\n", i);
  }
  CHECK(steps_of(totals).size() == 21);
  CHECK(steps_of(wall).size() == 20);
  for (const auto& text : {totals, wall, runs}) {
    const auto steps = steps_of(text);
    CHECK(steps.back().number == 21);
    CHECK(steps.back().time == 2.0_s);
  }
}

TEST_CASE("of two lines on a step one counts, and a progress bar is read without line ends", "[import]") {
  CHECK(
      steps_of(
          repeated("Step Time : 2.00s GPU utilization: 812\n iteration {}/ 500 | elapsed time per iteration "
                   "(ms): 2000.0 |"))
          .size() == 20);
  std::string bar;
  for (int i = 1; i <= 22; ++i) bar += fmt::format("\r 5%|#  | {}/80 [00:01<02:46,  2.31s/it]", i);
  CHECK(steps_of(bar).size() == 21);  // The last one may still be being written.
}

TEST_CASE("a row of the user is a format, and what a log lacks is said", "[import]") {
  const auto text = repeated("update {} cost 2.5 sekunden");
  CHECK(steps_of(text, {.key = {}, .unit = {}, .batch = {}, .rows = {"time cost unit=s"}}).back().time ==
        2.5_s);
  CHECK(steps_of(text, {.key = {}, .unit = {}, .batch = 5.0, .rows = {"rate cost of=tokens"}}).back().time ==
        2.0_s);
  CHECK_THROWS_WITH(steps_of(text, {.key = {}, .unit = {}, .batch = {}, .rows = {"time \"cost"}}),
                    Contains("'--row time \"cost' is no row of a log's format"));
  CHECK_THROWS_WITH(steps_of(repeated("step: {} tps: 8,192")),
                    Contains("'tps' is a rate in tokens per second of a GPU") &&
                        Contains("hint: give the tokens of a step of a GPU with --batch"));
  CHECK_THROWS_WITH(steps_of(repeated("{{'loss': 2.0, 'learning_rate': 1e-05, 'epoch': 0.0{}}}")),
                    Contains("the log has no step times: the Trainer writes losses without times"));
}

TEST_CASE("averages of progress bars become steps with their stalls", "[import]") {
  constexpr double usual = 2.31;
  std::string smoothed;  // tqdm's exponential average, as in the Trainer
  std::string average;   // since the start, as in Lightning
  double elapsed = 0;
  double steps_then = 0;
  double seconds_then = 0;
  for (int i = 1; i < 80; ++i) {
    const auto time = i == 41 ? 7.0 : i == 61 ? 9.0 : usual;
    elapsed += time;
    steps_then = 0.3 + 0.7 * steps_then;
    seconds_then = 0.3 * time + 0.7 * seconds_then;
    const auto whole = static_cast<int>(elapsed);
    const auto bar = fmt::format(" 5%|#  | {}/80 [{:02}:{:02}<02:46,  ", i, whole / 60, whole % 60);
    smoothed += fmt::format("\r{}{:.2f}s/it]", bar, seconds_then / steps_then);
    average += fmt::format("\r{}{:.2f}it/s]\r{}{:.2f}it/s]", bar, i / elapsed, bar, i / elapsed);
  }
  const auto of_smoothed = steps_of(smoothed + "\n");
  const auto of_average = steps_of(average + "\n");
  REQUIRE(of_smoothed.size() == 79);
  REQUIRE(of_average.size() == 79);
  for (int i = 2; i < 79; ++i) {
    const auto step = static_cast<std::size_t>(i);
    CAPTURE(i);
    const auto time = i == 40 ? 7.0 : i == 60 ? 9.0 : usual;
    CHECK(of_smoothed[step].time.value() == Approx(time).margin(2 * 0.005 * 1.7 / 0.3));
    CHECK(of_average[step].time.value() == Approx(time).margin(1));
  }
}
