// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/report/format/text.hpp"
#include "sim/report/points/sweep.hpp"

using namespace gradway;
using Catch::Matchers::Contains;
using report::Style;

namespace {

constexpr double too_large = 77;  // milliseconds of a point that does not fit

/// A sweep whose points take the given milliseconds; 0: the point failed. Each point has an unshared error of
/// the given fraction.
report::Sweep made_up(std::vector<Axis> axes, const std::vector<double>& ms, double uncertainty = 0) {
  report::Sweep sweep{"made up", std::move(axes), {}};
  for (std::size_t i = 0; i < ms.size(); ++i) {
    const bool fits = ms[i] != too_large;
    const Seconds step{ms[i] / 1e3};
    report::SweepPoint point{.values = point_values(sweep.axes, i), .report = "{\n  \"a\": 1\n}"};
    if (ms[i] > 0) {
      auto& metrics = point.answer.metrics;
      metrics.step_time = step;
      metrics.samples_per_s = 1e5 / ms[i];
      metrics.exposed_communication = step / 10.0;
      metrics.cost_usd_per_million_samples = step.value();
      point.answer.errors = {
          {.cause = {.what = fmt::format("{}", i)}, .source = {}, .time = step, .uncertainty = uncertainty}};
      if (!fits) {
        point.answer.verdict = MemoryVerdict::does_not_fit;
        point.answer.failure_reason = "does not fit: 93 of 24 GB on each l4";
      }
    } else {
      point.error = "error: no\n";
    }
    sweep.points.push_back(std::move(point));
  }
  return sweep;
}

std::string table_of(const report::Sweep& sweep, std::size_t width = 80) {
  std::ostringstream out;
  Style style;
  style.table_width = width;
  report::write_table(out, sweep, style);
  return out.str();
}

const Axis caps{"strategy.bucket_cap", {"25 MiB", "50 MiB", "100 MiB"}};
const Axis hooks{"strategy.comm_hook", {"none", "bf16"}};

}  // namespace

TEST_CASE("a sweep has its table, and a line for each combination of the other axes", "[report][sweep]") {
  CHECK(table_of(made_up({caps, hooks}, {10, 40, 20, 31, 40, 20})) ==
        "bucket_cap  comm_hook  step time  samples/s  exposed  USD/M samples\n"
        "25 MiB      none           10 ms      1e+04   10.0 %           0.01  fastest\n"
        "25 MiB      bf16           40 ms       2500   10.0 %           0.04\n"
        "50 MiB      none           20 ms       5000   10.0 %           0.02\n"
        "50 MiB      bf16           31 ms       3226   10.0 %          0.031\n"
        "100 MiB     none           40 ms       2500   10.0 %           0.04\n"
        "100 MiB     bf16           20 ms       5000   10.0 %           0.02\n"
        "\n"
        "step time over strategy.bucket_cap, 25 MiB to 100 MiB\n"
        "comm_hook\n"
        "none       ▁▃█  10 to 40 ms\n"
        "bf16       █▅▁  20 to 40 ms\n");
}

TEST_CASE("the line runs along the last numeric axis, or the last axis", "[report][sweep]") {
  const Axis ranks{"job.gpus", {"1", "2", "4"}};
  const Axis platforms{"platform", {"a", "b", "c"}};
  CHECK_THAT(table_of(made_up({ranks, platforms}, {1, 2, 3, 2, 3, 4, 3, 4, 5})),
             Contains("step time over job.gpus, 1 to 4\n") && Contains("\nb         ▁▅█  2 to 4 ms\n"));
  CHECK_THAT(table_of(made_up({hooks, platforms}, {1, 2, 3, 3, 2, 1})),
             Contains("step time over platform, a to c\n") && Contains("\nbf16       █▅▁  1 to 3 ms\n"));
  CHECK_THAT(table_of(made_up({hooks}, {1, 2})),
             !Contains("step time over"));  // two points do not show a shape
}

TEST_CASE("a point that failed is a gap in the line", "[report][sweep]") {
  const auto table = table_of(made_up({caps}, {10, 0, 20}));
  CHECK_THAT(table, Contains("\n50 MiB              -          -        -              -  failed\n") &&
                        Contains("▁ █  10 to 20 ms\n") && Contains("\nerror: no\n"));
}

TEST_CASE("a point that does not fit says so instead of its figures, and is not ranked", "[report][sweep]") {
  const auto sweep = made_up({caps}, {100, too_large, 200});
  const auto table = table_of(sweep);
  CHECK_THAT(table, Contains("\n50 MiB      does not fit: 93 of 24 GB on each l4\n") &&
                        Contains("▁ █  100 to 200 ms\n"));
  CHECK_THAT(table, Contains("\n25 MiB         100 ms       1000   10.0 %            0.1  fastest\n"));
  CHECK(report::ranking_of(sweep).fastest.winner() == 0);
  CHECK(report::ranking_of(sweep).cheapest.winner() == 0);
  CHECK(report::ranking_of(sweep).shortest_step.winner() == 0);
  std::ostringstream csv;
  report::write_csv(csv, sweep);
  CHECK_THAT(csv.str(), Contains("fits,provenance,error\n") && Contains(",false,measured,\n"));
  auto doubtful = sweep;
  doubtful.points[0].answer.verdict = MemoryVerdict::may_not_fit;
  std::ostringstream unknown;
  report::write_csv(unknown, doubtful);
  CHECK_THAT(unknown.str(), Contains(",,measured,\n"));
  CHECK_THAT(table_of(made_up({caps}, {too_large, too_large, too_large})),
             Contains("\nno point fits\n") && !Contains("fastest"));
}

TEST_CASE("points that differ by less than their errors are tied, and none is the fastest",
          "[report][sweep]") {
  const auto table = table_of(made_up({caps}, {100, 101, 150}, 0.05));
  CHECK_THAT(table, Contains("0.1  tied\n") && Contains("0.101  tied, 59 %\n") && !Contains("fastest"));
  std::ostringstream json;
  report::write_json(json, made_up({caps}, {100, 101, 150}, 0.05), "1");
  CHECK_THAT(json.str(), Contains("\"fastest\": null,\n  \"cheapest\": null,"));
  CHECK_THAT(table_of(made_up({caps}, {100, 101, 150}, 0.001)), Contains("fastest") && !Contains("tied"));
}

TEST_CASE("the sentence on a tie has the probability of the order", "[report][sweep]") {
  CHECK_THAT(table_of(made_up({caps}, {100, 101, 150}, 0.05)),
             Contains("\n25 MiB is tied with 50 MiB: the difference of 1.0 % is within the prediction\n"
                      "error; the first is faster with a probability of 59 %\n"));
  CHECK_THAT(table_of(made_up({caps}, {100, 101, 102}, 0.05)),
             Contains("\n25 MiB is tied with 50 MiB and 100 MiB: differences of up to 2.0 % are within\n"));
}

TEST_CASE("a flat series is a flat line", "[report][sweep]") {
  CHECK_THAT(table_of(made_up({caps}, {364.9, 364.90001, 364.91}, 0)),
             Contains("\n▄▄▄  364.9 to 364.9 ms\n"));
}

TEST_CASE("axes with the same last word keep their whole names", "[report][sweep]") {
  const auto table = table_of(made_up({{"a.gpu", {"x"}}, {"b.gpu", {"y"}}}, {1}));
  CHECK_THAT(table, Contains("a.gpu  b.gpu"));
}

TEST_CASE("the table of a sweep fits any width, and cuts names last", "[report][sweep]") {
  const Axis platforms{"platform", {"a-platform-of-22-chars", "another"}};
  const Axis views{"strategy.gradient_as_bucket_view", {"true", "false"}};
  const auto sweep = made_up({platforms, views, hooks}, {1, 2, 3, 4, 5, 6, 7, 8});
  for (const std::size_t width : {60U, 80U, 100U, 120U}) {
    CAPTURE(width);
    std::istringstream lines{table_of(sweep, width)};
    for (std::string line; std::getline(lines, line);) CHECK(report::columns_of(line) <= width);
  }
  CHECK_THAT(table_of(sweep, 120), Contains("gradient_as_bucket_view") && Contains("exposed"));
  CHECK_THAT(table_of(sweep, 80), Contains("a-platform-of-22-chars") && !Contains("exposed"));
}
