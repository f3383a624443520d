// SPDX-License-Identifier: Apache-2.0
// Rounds of clients against closed forms.
#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

#include "sim/campaign/formulas.hpp"
#include "sim/campaign/simulate_campaign.hpp"

using namespace gradway;

namespace {

/// Classes of clients: number and compute time. All take 10 s to download and 20 s to upload.
CampaignPlan rounds_of(double rounds, std::initializer_list<std::pair<int, double>> classes) {
  RoundsPlan plan{.classes = {}, .target = 3, .asked = 3, .rounds = rounds, .model = 100_MB, .update = 10_MB};
  int count = 0;
  for (const auto& [clients, compute] : classes) {
    plan.classes.push_back({.count = clients,
                            .down = ticks_of(Seconds{10}),
                            .compute = ticks_of(Seconds{compute}),
                            .up = ticks_of(Seconds{20})});
    count += clients;
  }
  return {.steps = rounds, .step = Seconds{1}, .nodes = count, .rounds = plan};
}

double seconds(const CampaignRun& run) {
  return seconds_of(run.elapsed).value();
}

double binomial(int n, int k, double p) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) * std::pow(p, k) *
         std::pow(1 - p, n - k);
}

}  // namespace

TEST_CASE("equal clients make equal rounds", "[campaign][rounds]") {
  const auto run = simulate_campaign(rounds_of(50, {{20, 300}}), {}, 0);
  CHECK(run.finished);
  CHECK(run.exchanges == 50);
  CHECK(run.elapsed == ticks_of(Seconds{50 * 330.0}));
  CHECK(at(run.times, Bucket::productive) == ticks_of(Seconds{50 * 300.0}));
  CHECK(at(run.times, Bucket::exchange) == ticks_of(Seconds{50 * 30.0}));
  CHECK(run.node_seconds == Approx(3 * 50 * 330.0));
}

TEST_CASE("a server sends its model to all selected clients and receives the updates that count",
          "[campaign][rounds]") {
  auto plan = rounds_of(50, {{20, 300}});
  plan.rounds->asked = 5;
  plan.rounds->usd_of_model = 0.01;
  plan.rounds->classes[0].usd_of_update = 0.002;
  plan.rounds->classes[0].usd_per_s = 1e-4;
  const auto run = simulate_campaign(plan, {}, 0);
  CHECK(run.sent.value() == Approx(50 * (5 * 100e6 + 3 * 10e6)));
  CHECK(run.other_usd == Approx(50 * (5 * 0.01 + 3 * 0.002 + 5 * 330 * 1e-4)));
}

TEST_CASE("a round waits for a slow client with the probability that one is selected", "[campaign][rounds]") {
  // 3 of 20: all of the 10 fast ones in C(10,3) of C(20,3) cases
  const double all_fast = 120.0 / 1140;
  const auto run = simulate_campaign(rounds_of(40000, {{10, 100}, {10, 400}}), {}, 0);
  CHECK(seconds(run) / 40000 == Approx(130 * all_fast + 430 * (1 - all_fast)).epsilon(0.01));
  CHECK(seconds_of(at(run.times, Bucket::stragglers)).value() / 40000 ==
        Approx(300 * (1 - all_fast)).epsilon(0.01));
}

TEST_CASE("with enough extra clients a round does not wait for the slow ones", "[campaign][rounds]") {
  auto plan = rounds_of(1000, {{10, 100}, {10, 400}});
  plan.rounds->asked = 20;
  CHECK(seconds(simulate_campaign(plan, {}, 0)) == Approx(1000 * 130.0));
}

TEST_CASE("a round reaches its deadline with the probability of too many drop-outs", "[campaign][rounds]") {
  // Bonawitz et al.: 130 % selected, 8 % drop out; fewer than 10 of 13 answer
  auto plan = rounds_of(40000, {{50, 300}});
  plan.rounds->target = 10;
  plan.rounds->asked = 13;
  plan.rounds->drop_out = 0.08;
  plan.rounds->deadline = ticks_of(Seconds{1330});
  double too_few = 0;
  for (int k = 0; k < 10; ++k) too_few += binomial(13, k, 0.92);
  const auto run = simulate_campaign(plan, {}, 0);
  CHECK(seconds(run) / 40000 == Approx(330 + 1000 * too_few).epsilon(0.01));
  CHECK(run.void_rounds == 0);
}

TEST_CASE("a round without enough updates is lost", "[campaign][rounds]") {
  auto plan = rounds_of(20000, {{50, 300}});
  plan.rounds->drop_out = 0.3;
  plan.rounds->least = 3;
  plan.rounds->deadline = ticks_of(Seconds{600});
  const auto good = 0.7 * 0.7 * 0.7;
  const auto run = simulate_campaign(plan, {}, 0);
  CHECK(run.exchanges == 20000);
  CHECK(run.void_rounds / 20000.0 == Approx(1 / good - 1).epsilon(0.02));
  CHECK(at(run.times, Bucket::lost) == run.void_rounds * ticks_of(Seconds{600}));
  CHECK(std::accumulate(run.times.begin(), run.times.end(), Ticks{0}) == run.elapsed);
}

TEST_CASE("a server waits until enough clients are available", "[campaign][rounds]") {
  auto plan = rounds_of(2000, {{10, 300}});
  plan.rounds->target = plan.rounds->least = 8;
  plan.rounds->asked = 10;
  plan.rounds->classes[0].available = 0.5;
  plan.rounds->retry = ticks_of(Seconds{60});
  const auto there = binomial(10, 8, 0.5) + binomial(10, 9, 0.5) + binomial(10, 10, 0.5);
  const auto run = simulate_campaign(plan, {}, 0);
  CHECK(seconds_of(at(run.times, Bucket::waiting)).value() / 2000 ==
        Approx(60 * (1 / there - 1)).epsilon(0.05));
}

TEST_CASE("the wait for slightly different clients follows the expected maximum of normal numbers",
          "[campaign][rounds]") {
  auto plan = rounds_of(1, {{10, 300}});
  plan.rounds->target = plan.rounds->asked = 10;
  plan.rounds->classes[0].spread = 0.02;
  double sum = 0;
  for (int seed = 0; seed < 4000; ++seed) sum += seconds(simulate_campaign(plan, {}, seed)) - 30;
  CHECK(sum / 4000 / 300 - 1 == Approx(0.02 * expected_maximum(10)).epsilon(0.03));
}

TEST_CASE("a campaign ends when it has the requested number of updates", "[campaign][rounds]") {
  auto plan = rounds_of(0, {{20, 300}});
  plan.rounds->updates = 100;
  const auto run = simulate_campaign(plan, {}, 0);
  CHECK(run.exchanges == 34);
  CHECK(run.updates == 102);
}

TEST_CASE("rounds that never have enough updates are given up", "[campaign][rounds]") {
  auto plan = rounds_of(100, {{20, 300}});
  plan.rounds->deadline = ticks_of(Seconds{100});
  CHECK_FALSE(simulate_campaign(plan, {}, 0).finished);
}
