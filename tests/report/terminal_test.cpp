// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/terminal.hpp"
#include "sim/base/make_warning.hpp"

#include <algorithm>
#include <sstream>

#include <catch2/catch.hpp>

#include "observe/watch/report.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/run/validation.hpp"
#include "tests/report/made_up_run.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

std::string text_of(const Run& run, const report::Style& style = {},
                    report::Detail detail = report::Detail::full) {
  std::ostringstream out;
  report::write_text(out, run, style, detail);
  return out.str();
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines{text};
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, report::columns_of(line));
  return widest;
}

/// Names and texts longer than any terminal.
Run verbose_run() {
  auto run = testing::made_up_run();
  const std::string word(200, 'x');
  run.scenario.name = word;
  run.scenario.model.name = word + " " + word;
  run.scenario.platform.name = word;
  run.measured.bottleneck = bottleneck::Communication{.limit = bottleneck::FullLink{word, false}};
  run.measured.links[0].name = word;
  run.basis = {{"failures", word, "; they occur at random"}, {"compute", "explicit times of the model"}};
  run.warnings = {make_warning<"unmodelled-nccl-variable", "name", "value">(word, word)};
  return run;
}

}  // namespace

TEST_CASE("a run is written with its job, its result and its provenance", "[report][terminal]") {
  const auto text = text_of(testing::made_up_run());

  CHECK_THAT(text, Contains("tiny, 1,048,576 parameters"));
  CHECK_THAT(text, Contains("made-up: 2 x ideal on 1 node"));
  CHECK_THAT(text, Contains("32 per GPU, 64 per step"));
  CHECK_THAT(text, Contains("DDP, buckets of 4 MiB"));
  CHECK_THAT(text, Contains("NCCL_ALGO=RING"));
  CHECK_THAT(text, Contains("step time    10 ms (90 % prediction interval: 9 to 12 ms)"));
  CHECK_THAT(text, Contains("100 steps/s, 6400 samples/s"));
  CHECK_THAT(text, Contains("memory       2 GB per GPU (estimate)"));
  CHECK_THAT(text, Contains("each GPU     12.5 TFLOP/s, 60.0 % busy"));
  CHECK_THAT(text, Contains("36.00 USD/h, 1.562 USD per million samples"));
  CHECK_THAT(text, Contains("this link is saturated during it"));
  CHECK_THAT(text, Contains("gpu0 -> gpu1                25.0 %          4.194 MB"));
  CHECK_THAT(text, Contains("provenance   compute: explicit times of the model"));
  CHECK_THAT(text, Contains("warning      NCCL_ALGO=RING is accepted, but not modelled\n               "
                            "[unmodelled-nccl-variable]\n"));
}

TEST_CASE("without --verbose a run shows the key results and where to find details", "[report][terminal]") {
  auto run = testing::made_up_run();
  run.warnings.push_back(make_warning<"extrapolated-contention", "conditions">("elsewhere"));
  const auto text = text_of(run, {}, report::Detail::brief);

  for (const auto* part :
       {"step time", "throughput", "memory", "USD/h", "compute", "bottleneck", "not modelled", "--verbose"}) {
    CAPTURE(part);
    CHECK_THAT(text, Contains(part));
  }
  for (const auto* part : {"launch-bound", "busiest", "engine", "elsewhere", "explicit times"}) {
    CAPTURE(part);
    CHECK_THAT(text, !Contains(part));
  }
  CHECK(std::ranges::count(text, '\n') <= 40);
}

TEST_CASE("the terminal has each statement of a provenance once, without citations", "[report][terminal]") {
  auto run = testing::made_up_run();
  run.basis = {{"compute", "roofline from the datasheet of h100-sxm and efficiencies", " (a datasheet)"},
               {"launches", "44 us of CPU time per operation, assumed: our own hosts took 20 to 61 us",
                ". To replace the assumption: the platform's key 'eager_operation'"},
               {"NET all-reduce", "NCCL's nominal channel rates, nothing measured"},
               {"P2P all-reduce", "NCCL's nominal channel rates, nothing measured"},
               {"", "storage efs delivers 50 MB/s once its burst credit is used up"},
               {"", "", "platform made-up: a book"}};
  const auto text = text_of(run, {false, 120});
  CHECK_THAT(
      text,
      Contains(
          "  provenance   - compute: roofline from the datasheet of h100-sxm and efficiencies\n"
          "               - launches: 44 us of CPU time per operation, assumed: our own hosts took 20 to "
          "61 us\n"
          "               - NET all-reduce, P2P all-reduce: NCCL's nominal channel rates, nothing measured\n"
          "               - storage efs delivers 50 MB/s once its burst credit is used up\n"));
  for (const auto* part : {"a book", "a datasheet", "eager_operation"}) CHECK_THAT(text, !Contains(part));
}

TEST_CASE("the parts of a step are written with their times and shares", "[report][terminal]") {
  std::ostringstream out;
  report::write_breakdown(out, testing::made_up_run().measured.metrics, report::Style{false, 44},
                          report::Detail::full);

  CHECK(out.str() ==
        "  ████████████████████▒▒▒▒▒▒▒▒▒▒▒▒▓▓▓▓▚▚▚▚\n"
        "\n"
        "  █ compute                       5.00 ms    50.0 %\n"
        "  ▒ exposed communication         3.00 ms    30.0 %\n"
        "  ▓ input wait                    1.00 ms    10.0 %\n"
        "  ▚ optimizer                     1.00 ms    10.0 %\n"
        "  ░ launch-bound                  0.00 ms     0.0 %\n"
        "  · idle                          0.00 ms     0.0 %\n"
        "    overlapped communication      2.00 ms    20.0 %   with kernels\n");
}

TEST_CASE("no line is wider than the limit", "[report][terminal]") {
  const std::size_t width = GENERATE(80U, 100U, 120U);
  const report::Style style{GENERATE(false, true), width};
  CAPTURE(width, style.colour);

  CHECK(widest_line(text_of(testing::made_up_run(), style)) <= width);
  CHECK(widest_line(text_of(verbose_run(), style)) <= width);
}

TEST_CASE("control sequences occur only with colours", "[report][terminal]") {
  CHECK(text_of(verbose_run(), {false, 80}).find('\x1b') == std::string::npos);
  CHECK(text_of(verbose_run(), {true, 80}).find('\x1b') != std::string::npos);
}

TEST_CASE("a run without a price, collectives or parts does not mention them", "[report][terminal]") {
  auto run = testing::made_up_run();
  run.measured.metrics.cost_per_hour.reset();
  run.measured.metrics.collectives = 0;
  run.measured.metrics.communication = Seconds{};
  run.measured.metrics.tflops_per_gpu = 0;
  run.measured.links.clear();
  run.warnings.clear();

  const auto text = text_of(run);
  for (const auto* word : {"USD", "collectives  ", "overlapped", "TFLOP", "busiest", "warning"}) {
    CAPTURE(word);
    CHECK_THAT(text, !Contains(word));
  }
}

TEST_CASE("a validation shows each case, the mean, the worst and the bias", "[report][terminal]") {
  const report::Validation validation{"a stop watch",
                                      {{"slow", 100_ms, 150_ms, {}}, {"fast", 200_ms, 150_ms, {}}}};
  std::ostringstream out;
  report::write_table(out, validation, {});

  CHECK(out.str() ==
        "case  measured  predicted     error\n"
        "slow    100 ms     150 ms  +50.00 %\n"
        "fast    200 ms     150 ms  -25.00 %\n"
        "\n"
        "mean |error| 37.50 %, worst +50.00 % (slow), bias +12.50 %, 2 cases\n"
        "median |error| 37.50 %\n"
        "in the 90 % interval: 0 of 2\n"
        "measured: a stop watch\n");
}

TEST_CASE("a validation counts coverage by group, and leaves out anchored steps", "[report][terminal]") {
  const report::Validation validation{"",
                                      {{"a", 10_ms, 11_ms, {9_ms, 12_ms}, {}, "measured, P2P"},
                                       {"b", 10_ms, 12_ms, {11_ms, 13_ms}, {}, "measured, SHM"},
                                       {"c", 10_ms, 10_ms, {9_ms, 11_ms}, {}, "measured, one GPU", true},
                                       {"d", 10_ms, 9_ms, {8_ms, 11_ms}, {}, "measured, P2P"}}};
  std::ostringstream out;
  report::write_table(out, validation, {});
  CHECK_THAT(out.str(), Contains("worst +20.00 % (b), bias +6.67 %, 3 cases\n"
                                 "median |error| 10.00 %\n"
                                 "in the 90 % interval: 2 of 3\n"
                                 "  measured, P2P  2 of 2\n"
                                 "  measured, SHM  0 of 1\n"
                                 "1 case not counted: the prediction is anchored to that very step\n"));
}

TEST_CASE("a measured step outside its interval is printed as an anchor", "[report][terminal]") {
  const Anchor anchor{.gpu = "l40s",
                      .precision = Precision::bf16,
                      .batch = 8,
                      .optimizer = Optimizer::adamw,
                      .step_time = Seconds{0.1123456},
                      .source = "a \"stop\" watch: mine"};
  const report::Validation validation{"",
                                      {{"in", 10_ms, 11_ms, {9_ms, 12_ms}, anchor},
                                       {"out", 112.3456_ms, 90_ms, {80_ms, 100_ms}, anchor},
                                       {"no anchor", 1_ms, 2_ms, {2_ms, 3_ms}}}};
  std::ostringstream out;
  report::write_table(out, validation, {});
  CHECK_THAT(out.str(), Contains("\nin the 90 % interval: 1 of 3\n") &&
                            Catch::Matchers::EndsWith(
                                "\n# out is outside its interval; the measured step as an anchor:\n"
                                "anchor:\n"
                                "  gpu: l40s\n"
                                "  precision: bf16\n"
                                "  batch: 8\n"
                                "  optimizer: adamw\n"
                                "  step_time: 112.3456 ms\n"
                                "  source: \"a \\\"stop\\\" watch: mine\"\n"));
}

TEST_CASE("a whole training is shown in days and dollars, with its limits", "[report][terminal]") {
  auto run = testing::made_up_run();
  run.measured.metrics.samples = 64;
  run.measured.metrics.tokens_per_sample = 1024;
  run.measured.metrics.tokens_per_s = 6400 * 1024;
  // 10 ms (9 to 12 ms) for 65,536 tokens, at a cent a second: 10 T tokens are 152,587,891 steps
  const report::RunQuestions questions{
      .goal = TrainingGoal{
          .tokens = 10e12, .samples = {}, .deadline = Seconds{14 * 86400}, .budget_usd = 17000.0}};
  std::ostringstream out;
  report::write_text(out, run, {}, report::Detail::full, questions);
  CHECK_THAT(
      out.str(),
      Contains("6400 samples/s\n               3,276,800 tokens/s per GPU, 6,553,600 tokens/s in total\n") &&
          Contains("\n  training     10 T tokens in 152,587,891 steps: 17.66 days (15.9 to 21.2 days)\n"
                   "               15,259 USD (13,733 to 18,311)\n"
                   "  deadline     14 days: not met\n"
                   "  budget       17,000 USD: may be met\n"));
}

TEST_CASE("long times are shown in minutes, hours or days", "[report][terminal]") {
  CHECK(report::span_text(Seconds{0.5}) == "500 ms");
  CHECK(report::span_text(Seconds{90}) == "1.5 min");
  CHECK(report::span_text(Seconds{3600}) == "60 min");
  CHECK(report::span_text(Seconds{36 * 3600}) == "36 h");
  CHECK(report::span_text(Seconds{14.25 * 86400}) == "14.25 days");
  CHECK(report::price_text(0.526) == "0.526");
  CHECK(report::price_text(0.70683) == "0.7068");
  CHECK(report::price_text(98.32) == "98.32");
  CHECK(report::price_text(384) == "384.00");
  CHECK(report::span_text(Seconds{12345 * 86400.0}) == "12,345 days");
  CHECK(report::span_range_text({0, 30 * 3600, 60 * 3600}) == "30 h to 2.5 days");
  CHECK(report::amount_in_words({.tokens = 1.5e12, .samples = {}}) == "1.5 T tokens");
  CHECK(report::amount_in_words({.tokens = {}, .samples = 90e6}) == "90 M samples");
  CHECK(report::amount_in_words({.tokens = {}, .samples = 500}) == "500 samples");
}

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
