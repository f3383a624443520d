// SPDX-License-Identifier: Apache-2.0
// What is known of the ratio of two predictions: errors that both have cancel as far as both have them.
#include <cmath>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/compare/leaders.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

struct Prediction {
  Seconds step{};
  std::vector<PossibleError> errors{};
};

Expected ratio(const Prediction& one, const Prediction& other) {
  return step_ratio(one.step, one.errors, other.step, other.errors);
}

Prediction predicted(const std::string& scenario, const std::vector<Override>& set) {
  const auto run = simulate(load_scenario(scenario, set, data), "fluid");
  return {run.measured.metrics.step_time, run.errors};
}

Expected ratio_of_runs(const std::string& scenario, const std::vector<Override>& one,
                       const std::vector<Override>& other) {
  return ratio(predicted(scenario, one), predicted(scenario, other));
}

/// Half of what is not known, as a fraction.
double width(const Expected& expected) {
  return std::sqrt(expected.high / expected.low) - 1;
}

}  // namespace

TEST_CASE("the ratio of a prediction to itself is exactly one", "[run][ratio]") {
  const auto same = ratio_of_runs("article/g6e", {}, {});
  CHECK(same.low == 1);
  CHECK(same.high == 1);
}

TEST_CASE("hidden and exposed launches share the error of the CPU", "[ratio]") {
  const auto launched = [](PartOfStep part) { return PossibleError{{part, "host"}, {}, 30_ms, 0.5}; };
  const Prediction both{100_ms, {launched(PartOfStep::launches), launched(PartOfStep::hidden_launches)}};
  CHECK(ratio(both, {100_ms}).high == Approx(1.3));
  const Prediction apart{100_ms,
                         {launched(PartOfStep::launches), {{PartOfStep::input, "copies"}, {}, 30_ms, 0.5}}};
  CHECK(ratio(apart, {100_ms}).high == Approx(std::exp(std::sqrt(2.0) * std::log(1.15))));
}

TEST_CASE("campaigns are tied as far as their runs with the same seed differ", "[ratio]") {
  const auto campaign = [](double figure, std::vector<double> by_seed) {
    return Choice{figure, 100_ms, {}, std::move(by_seed)};
  };
  const auto one = campaign(10, {9, 10, 11, 20});
  // The same luck: each run is 2 % longer.
  CHECK_FALSE(are_tied(one, campaign(10.2, {9.18, 10.2, 11.22, 20.4})));
  CHECK(are_tied(one, campaign(10.2, {20, 9, 11, 10})));
  // Equal times: what an hour costs decides.
  CHECK_FALSE(are_tied(one, campaign(12, {10.8, 12, 13.2, 24})));
  CHECK(probability_of_less(figure_ratio(one, campaign(10.2, {20, 9, 11, 10}))) < 0.95);
}

TEST_CASE("the ratio to a certain time has the interval of the step", "[run][ratio]") {
  const Prediction certain{100_ms};
  const Prediction compute{100_ms, {{{PartOfStep::compute, "a"}, {}, 80_ms, 0.5}}};
  const auto longer = ratio(compute, certain);
  CHECK(longer.high == Approx(1.4));
  CHECK(longer.low == Approx(1 - 0.8 / 3));
  // Hidden communication lengthens a step, but does not shorten it.
  const Prediction hidden{100_ms, {{{PartOfStep::hidden_communication, "a"}, {}, 80_ms, 0.5}}};
  CHECK(ratio(hidden, certain).low == 1);
  CHECK(ratio(certain, hidden).high == 1);
  // Two that are independent add as squares of logarithms.
  const Prediction both{
      100_ms, {{{PartOfStep::compute, "a"}, {}, 50_ms, 0.5}, {{PartOfStep::launches, "b"}, {}, 50_ms, 0.5}}};
  CHECK(ratio(both, certain).high == Approx(std::exp(std::sqrt(2) * std::log(1.25))));
}

TEST_CASE("a shared error counts as far as its shares differ", "[run][ratio]") {
  const Prediction one{100_ms, {{{PartOfStep::compute, "a"}, {}, 80_ms, 0.5}}};
  const Prediction same{200_ms, {{{PartOfStep::compute, "a"}, {}, 160_ms, 0.5}}};
  const auto cancelled = ratio(one, same);
  CHECK(cancelled.low == Approx(cancelled.value).epsilon(1e-12));
  CHECK(cancelled.high == Approx(cancelled.value).epsilon(1e-12));
  const Prediction half{100_ms, {{{PartOfStep::compute, "a"}, {}, 40_ms, 0.5}}};
  CHECK(ratio(one, half).high == Approx(1.4 / 1.2));
  const Prediction another{100_ms, {{{PartOfStep::compute, "b"}, {}, 80_ms, 0.5}}};
  CHECK(ratio(one, another).high == Approx(std::exp(std::hypot(std::log(1.4), std::log(1 - 0.8 / 3)))));
}

TEST_CASE("predictions with the same GPU, machine or batch share its errors", "[run][ratio]") {
  // Nothing of gpt_small was measured on an A100: its steps are known to a factor, their ratio is not so bad.
  const std::vector<Override> unknown{{"model", "gpt_small"}, {"platform", "aws-p4d.24xlarge"}};
  auto views = unknown;
  views.push_back({"strategy.gradient_as_bucket_view", "true"});
  const auto certain = Prediction{predicted("article/p4d", unknown).step};
  CHECK(width(ratio(predicted("article/p4d", unknown), certain)) > 0.25);
  CHECK(width(ratio_of_runs("article/p4d", unknown, views)) < 0.01);
  auto buckets = unknown;
  buckets.push_back({"strategy.bucket_cap", "10 MiB"});
  CHECK(width(ratio_of_runs("article/p4d", unknown, buckets)) >
        width(ratio_of_runs("article/p4d", unknown, views)));

  // Two machines with the same GPU share what is not known of it; two GPUs only share the program.
  const auto on = [](const char* platform) {
    return std::vector<Override>{{"platform", platform}, {"model", "gpt_small"}, {"job.gpus", "1"}};
  };
  CHECK(width(ratio_of_runs("article/p4d", on("aws-p5.48xlarge"), on("dgx-h100"))) < 0.6);
  CHECK(width(ratio_of_runs("article/p4d", on("aws-p5.48xlarge"), on("aws-p4d.24xlarge"))) > 0.25);

  // Larger batches than an anchor's are off in one direction.
  const auto batch = [](const char* size) {
    return std::vector<Override>{{"job.batch_per_gpu", size}, {"job.gpus", "1"}};
  };
  const auto twice = width(ratio_of_runs("article/p4d", batch("64"), batch("32")));
  CHECK(twice == Approx(0.075).margin(0.01));
  CHECK(width(ratio_of_runs("article/p4d", batch("128"), batch("64"))) ==
        Approx((std::sqrt(2.0) - 1) * twice).margin(0.015));
}

TEST_CASE("the interval of a part follows from its uncertainties", "[run][ratio]") {
  const auto scenario =
      load_scenario(GENERATE("article/g6e", "article/p4d", "h200-4x/gpt_small", "published/all-reduce"),
                    {{"job.gpus", GENERATE("2", "4")}}, data);
  const auto run = simulate(scenario, "fluid");
  for (const auto& one : uncertain_parts(run.measured.metrics, run.step_basis)) {
    const auto [part, time, uncertainty] = std::tuple{one.part, one.time, one.uncertainty};
    if (part == PartOfStep::compute || time == Seconds{}) continue;  // the optimizer's may be told apart
    double squares = 0;
    for (const auto& error : run.errors) {
      if (error.cause.part != part) continue;
      CHECK(error.time == time);
      squares += std::pow(std::log1p(error.uncertainty), 2);
    }
    CHECK(std::sqrt(squares) == Approx(std::log1p(uncertainty)).margin(1e-12));
  }
}

TEST_CASE("choices that are not distinguishable from the first are tied, and none wins", "[run][leaders]") {
  const auto choice = [](double ms, const char* of, double uncertainty) {
    return std::optional{
        Choice{ms, Seconds{ms / 1e3}, {{{PartOfStep::compute, of}, {}, Seconds{ms / 1e3}, uncertainty}}}};
  };
  const auto sure = leaders_of({choice(12, "a", 0.5), choice(10, "a", 0.5), std::nullopt});
  CHECK(sure.winner() == 1);
  CHECK_FALSE(sure.tied());

  const auto tied = leaders_of({choice(12, "a", 0.2), choice(10, "b", 0.2), choice(30, "c", 0.2)});
  CHECK_FALSE(tied.winner());
  CHECK(tied.which == std::vector<std::size_t>{1, 0});
  CHECK(tied.difference == Approx(0.2));

  CHECK(tied.probability_first_leads.at(1) == 0.5);
  CHECK(tied.probability_first_leads.at(0).value() > 0.5);
  CHECK(tied.probability_first_leads.at(0).value() < 0.95);

  // 13 cannot be told from 10, but from 12: it is not the first for sure.
  const auto beaten = leaders_of({choice(10, "b", 0.2), choice(12, "a", 0.2), choice(13, "a", 0.2)});
  CHECK(beaten.which == std::vector<std::size_t>{0, 1});

  CHECK(leaders_of({choice(10, "a", 0), choice(10, "b", 0)}).which.size() == 2);  // equal
  // 11.5 is slower than 10 for sure: what is slower still is not tied, though it may be the faster.
  const auto between = leaders_of({choice(10, "a", 0.5), choice(11.5, "a", 0.5), choice(12, "b", 0.4)});
  CHECK(between.winner() == 0);
  CHECK(between.probability_first_leads.at(2).value() < 0.95);
  CHECK(between.confidence() == between.probability_first_leads.at(2).value());
  // A difference of 0.05 % is none, however sure it is.
  CHECK(leaders_of({choice(10, "a", 0.5), choice(10.005, "a", 0.5), choice(20, "a", 0.5)}).which.size() == 2);
  CHECK(leaders_of({std::nullopt}).which.empty());
  CHECK(leaders_of({}).which.empty());
}
