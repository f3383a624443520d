// SPDX-License-Identifier: Apache-2.0
// What is found out about a campaign from many runs of it.
#include "sim/study/campaign/campaign.hpp"

#include <numeric>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/study/staging/ways_in.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

Run step_of(const std::vector<Override>& set = {}) {
  return simulate(load_scenario("campaign/llama2_7b-aws-p5", set, data));
}

/// A pause of 20 s, a failure in 2.34 h, 300 s to go on: 30 days.
CampaignPlan plan_of_a_month() {
  CampaignPlan plan{.steps = 30 * 86400.0, .step = Seconds{1}, .saves = true};
  plan.failures_per_s = 1 / 8424.0;
  plan.checkpoint.pause = ticks_of(Seconds{20});
  plan.detection = ticks_of(Seconds{300});
  return plan;
}

}  // namespace

TEST_CASE("the best checkpoint interval agrees with Daly's within the noise of the simulation",
          "[study][campaign]") {
  const auto choice = choose_interval(plan_of_a_month(), 100, 2);
  CHECK(choice.daly->value() == Approx(567.2).margin(0.1));
  CHECK(choice.best.value() == Approx(567.2).epsilon(0.15));
  CHECK(choice.goodput_best == Approx(0.9000).margin(0.003));
  for (const auto& point : choice.curve) CHECK(point.goodput <= choice.goodput_best + 0.002);
}

TEST_CASE("figures do not depend on the number of threads", "[study][campaign]") {
  const auto plan = plan_of_a_month();
  const auto one = simulate_seeds(plan, Seconds{600}, 40, 1),
             three = simulate_seeds(plan, Seconds{600}, 40, 3);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i].times == three[i].times);
}

TEST_CASE("the mean parts of a campaign add up to its mean time, and its cost is that of its nodes",
          "[study][campaign]") {
  const auto answers = answers_of(step_of(), {.seeds = 60});
  const auto& estimate = answers.estimate;
  const auto sum = std::accumulate(estimate.bucket_s.begin(), estimate.bucket_s.end(), 0.0);
  CHECK(sum == Approx(estimate.mean_s).epsilon(1e-12));
  CHECK(*estimate.mean_usd == Approx(estimate.mean_s / 3600 * 8 * 55.04).epsilon(1e-9));
  CHECK(estimate.seconds.low < estimate.seconds.value);
  CHECK(estimate.seconds.value < estimate.seconds.high);
  int counted = 0;
  for (const auto& bar : answers.histogram) counted += bar.runs;
  CHECK(counted == 60);
}

TEST_CASE("what-ifs save time, and spot nodes cost less but take longer", "[study][campaign]") {
  const auto answers = answers_of(step_of(), {.seeds = 100});
  REQUIRE(answers.what_ifs.size() == 3);
  for (const auto& one : answers.what_ifs) {
    CAPTURE(one.change);
    CHECK(one.saves_s > 0);
  }
  REQUIRE(answers.terms.size() == 2);
  CHECK(answers.terms[1].terms == Terms::spot);
  CHECK(answers.terms[1].estimate.mean_s > answers.terms[0].estimate.mean_s);
  CHECK(*answers.terms[1].estimate.mean_usd < *answers.terms[0].estimate.mean_usd);
}

TEST_CASE("more failures, slower restarts and slower storage never make a campaign cheaper",
          "[study][campaign]") {
  const std::vector<Override> busy{{"campaign.failures.job_mttf", "3 h"},
                                   {"campaign.checkpoint.mode", "sync"}};
  const auto usd = [&](std::vector<Override> set) {
    if (set.empty() || set.front().key != busy.front().key) set.insert(set.begin(), busy.front());
    set.push_back(busy.back());
    return *answers_of(step_of(set), {.seeds = 100}).estimate.mean_usd;
  };
  const auto base = usd({});
  CHECK(usd({{"campaign.failures.job_mttf", "2 h"}}) > base);
  CHECK(usd({{"campaign.restart.requeue", "10 min"}}) > base);
  CHECK(usd({{"campaign.checkpoint.write", "2 GB/s"}}) > base);
}

TEST_CASE("the probability of keeping a limit is the share of the runs that keep it", "[study][campaign]") {
  const auto run = step_of();
  const auto free = answers_of(run, {.seeds = 60});
  const auto limited = answers_of(run, {.seeds = 60,
                                        .deadline = Seconds{free.estimate.seconds.value},
                                        .budget_usd = free.estimate.usd->high * 1e3});
  CHECK(*limited.in_time == Approx(0.5).margin(0.02));
  CHECK(*limited.in_budget == 1);
}

TEST_CASE("a campaign that cannot finish is refused with a hint", "[study][campaign]") {
  const auto run = step_of({{"campaign.failures.job_mttf", "2 min"},
                            {"campaign.checkpoint.mode", "sync"},
                            {"campaign.checkpoint.write", "100 MB/s"}});
  CHECK_THROWS_WITH(
      answers_of(run, {.seeds = 10}),
      Catch::Matchers::Contains("the campaign does not finish: it is interrupted every 120 s") &&
          Catch::Matchers::Contains("save faster (campaign.checkpoint."));
}

TEST_CASE("a checkpoint is as large as the training state of each parameter", "[study][campaign]") {
  // MLPerf Storage: 14 bytes a parameter with bf16 weights, their copy in fp32 and two moments.
  const auto scenario = load_scenario("layouts/llama3_70b", {}, data);
  double count = 0;
  for (const auto& layer : scenario.model.layers) count += static_cast<double>(layer.parameter_count());
  CHECK(checkpoint_size(scenario).value() == Approx(14 * count));
  CHECK(checkpoint_size(scenario).value() / 1073741824 == Approx(912).epsilon(0.02));  // its table: 912 GiB
}

TEST_CASE("a campaign stages its dataset once", "[study][campaign]") {
  const auto figures = [&](const char* when) {
    const auto scenario = load_scenario(
        "loading/staging",
        {{"campaign", "{ epochs: 90, samples_per_epoch: 1281167 }"}, {"input.stage_in", when}}, data);
    const auto run = simulate(scenario, "fluid");
    CampaignQuestions questions;
    questions.seeds = 2;
    questions.only_figures = true;
    return std::pair{answers_of(run, questions), *ways_in(scenario, "fluid", 1)};
  };
  const auto [before, ways] = figures("before");
  CHECK(seconds_of(before.plan.staging).value() == Approx(ways.copy.time().value()));
  CHECK(before.plan.data.usd_of_filling == Approx(ways.copy.usd()));
  const auto [during, same] = figures("during");
  CHECK(seconds_of(during.plan.staging).value() ==
        Approx((same.during.first_epoch - same.before.first_epoch).value()));
  CHECK(during.estimate.mean_s < before.estimate.mean_s);
  CHECK(before.estimate.mean_s - during.estimate.mean_s ==
        Approx(seconds_of(before.plan.staging - during.plan.staging).value()).epsilon(1e-6));
}
