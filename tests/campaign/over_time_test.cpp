// SPDX-License-Identifier: Apache-2.0
// Campaigns whose steps differ in their course, against closed forms.
#include "sim/campaign/over_time.hpp"

#include <numeric>

#include <catch2/catch.hpp>

#include "sim/campaign/formulas.hpp"
#include "sim/campaign/simulate_campaign.hpp"

using namespace gradway;

namespace {

StepVariant step_of(double seconds, double samples, double busy = 0, double usd_per_s = 0) {
  return {.step = Seconds{seconds}, .samples = samples, .storage_busy = busy, .storage_usd_per_s = usd_per_s};
}

/// A campaign without failures and checkpoints.
CampaignPlan plan_of(std::vector<PhaseSteps> phases, const TargetData& target,
                     const CampaignSettings& settings = {}) {
  CampaignPlan plan;
  plan.over_time = over_time_plan(std::move(phases), target, settings);
  plan.target = target;
  plan.steps = plan.over_time->ends.back().steps;
  plan.step = plan.over_time->mean_step();
  plan.samples = plan.over_time->ends.back().samples;
  return plan;
}

double seconds_in(const CampaignRun& run, Bucket bucket) {
  return seconds_of(at(run.times, bucket)).value();
}

CampaignRun undisturbed(const CampaignPlan& plan) {
  return simulate_campaign(plan, Seconds{1e6}, 0, RunDetail::interruptions);
}

}  // namespace

TEST_CASE("a growing batch takes the steps of each of its phases", "[campaign][over_time]") {
  // 1,000 samples in steps of 10, 3,000 in steps of 20, 6,000 in steps of 40.
  const auto plan = plan_of({{1000, {step_of(1, 10)}}, {4000, {step_of(1.5, 20)}}, {{}, {step_of(2.5, 40)}}},
                            {.samples = 10000, .batch = 40});
  CHECK(plan.steps == 100 + 150 + 150);
  const auto run = undisturbed(plan);
  CHECK(seconds_of(run.elapsed).value() == Approx(100 * 1 + 150 * 1.5 + 150 * 2.5).epsilon(1e-12));
  REQUIRE(run.conditions.size() == 3);
  CHECK(seconds_of(run.conditions[1].at).value() == Approx(100).epsilon(1e-12));
  CHECK(seconds_of(run.conditions[2].at).value() == Approx(100 + 225).epsilon(1e-12));
}

TEST_CASE("phases of equal steps are the campaign without phases, also with failures and checkpoints",
          "[campaign][over_time]") {
  const auto eventful = [](CampaignPlan plan) {
    plan.saves = true;
    plan.checkpoint.pause = ticks_of(Seconds{20});
    plan.checkpoint.write = ticks_of(Seconds{100});
    plan.checkpoint.slowdown = 1.1;
    plan.failures_per_s = 1 / 8424.0;
    plan.detection = ticks_of(Seconds{300});
    plan.evaluation_every = 7000;
    plan.evaluation = ticks_of(Seconds{60});
    return plan;
  };
  const auto parted = eventful(plan_of(
      {{4e5, {step_of(1, 1)}}, {7e5, {step_of(1, 1)}}, {{}, {step_of(1, 1)}}}, {.samples = 1e6, .batch = 1}));
  const auto whole = eventful({.steps = 1e6, .step = Seconds{1}});
  for (int seed = 0; seed < 5; ++seed) {
    const auto one = simulate_campaign(parted, Seconds{600}, seed);
    const auto other = simulate_campaign(whole, Seconds{600}, seed);
    CHECK(one.times == other.times);
    CHECK(one.checkpoints == other.checkpoints);
    CHECK(one.failures == other.failures);
  }
}

TEST_CASE("steps to a target follow McCandlish's trade-off between steps and samples",
          "[campaign][over_time]") {
  // S / S_min - 1 is the inverse of E / E_min - 1 at any batch.
  constexpr double critical = 300, least_samples = 6e5, least_steps = least_samples / critical;
  for (const auto batch : {3.0, 100.0, 300.0, 900.0, 30000.0}) {
    const TargetData target{.samples = least_samples * 1.5, .batch = 150, .critical_batch = critical};
    const auto end = phase_ends({{{}, {step_of(1, batch)}}}, target).back();
    const auto steps = end.steps / least_steps - 1, samples = end.samples / least_samples - 1;
    CHECK(steps * samples == Approx(1).epsilon(0.01));
    CHECK(end.samples == Approx(least_samples * samples_to_target(batch, critical)).margin(batch));
  }
  // At the critical batch: twice the fewest steps and twice the fewest samples.
  const auto end = phase_ends({{{}, {step_of(1, critical)}}},
                              {.samples = 2 * least_samples, .batch = critical, .critical_batch = critical})
                       .back();
  CHECK(end.steps == 2 * least_steps);
}

TEST_CASE("small batches at the start save samples, and lossy steps cost time", "[campaign][over_time]") {
  const TargetData target{.samples = 3e5, .batch = 400, .critical_batch = 200};  // 1e5 with small batches
  // 5e4 samples in batches of 50 are worth 4e4; the other 6e4 need three times as many.
  const auto ends = phase_ends({{5e4, {step_of(1, 50)}}, {{}, {step_of(2, 400)}}}, target);
  CHECK(ends.back().samples == Approx(5e4 + 1.8e5));
  auto lossy = target;
  lossy.more_steps = 1.2;
  CHECK(phase_ends({{{}, {step_of(2, 400)}}}, lossy).back().steps == Approx(3e5 / 400 * 1.2));
}

TEST_CASE("busy hours lengthen the steps in them", "[campaign][over_time]") {
  CampaignSettings settings;
  settings.phases = {{.from = 8, .to = 18, .set = {}}};
  // 86,400 steps of 1 s, or of 2 s for ten hours of each day: 19 h of steps in a day.
  const auto plan =
      plan_of({{{}, {step_of(2, 1), step_of(1, 1)}}}, {.samples = 86400 * 19.0, .batch = 1}, settings);
  const auto run = undisturbed(plan);
  CHECK(seconds_of(run.elapsed).value() == Approx(24 * 86400.0).epsilon(1e-9));
  CHECK(seconds_in(run, Bucket::conditions) == Approx(5 * 24 * 3600.0).epsilon(1e-9));
  CHECK(seconds_in(run, Bucket::productive) == Approx(19 * 24 * 3600.0).epsilon(1e-9));
  CHECK(run.conditions.size() == 1 + 2 * 24);
}

TEST_CASE("hours may pass midnight, and a campaign begins in them", "[campaign][over_time]") {
  CampaignSettings settings;
  settings.phases = {{.from = 22, .to = 6, .set = {}}};
  const auto plan = plan_of({{{}, {step_of(4, 1), step_of(1, 1)}}}, {.samples = 5400, .batch = 1}, settings);
  CHECK(seconds_of(undisturbed(plan).elapsed).value() == Approx(4 * 5400.0));  // ends at 6:00
}

TEST_CASE("storage grows after its delay, no sooner than its cool-down, and is paid from the request on",
          "[campaign][over_time]") {
  CampaignSettings settings;
  settings.storage = StorageGrowth{
      .tiers = {"second", "third"}, .load = 0.8, .delay = Seconds{3600}, .cool_down = Seconds{6 * 3600.0}};
  const PhaseSteps steps{{}, {step_of(4, 1, 1.0, 0.01), step_of(2, 1, 1.0, 0.02), step_of(1, 1, 0.7, 0.04)}};
  const auto plan = plan_of({steps}, {.samples = 100000, .batch = 1}, settings);
  const auto run = undisturbed(plan);
  // 1 h on the first tier; the third is requested after 6 h and serves after 7.
  const double first = 3600, second = 6 * 3600;
  const auto left = 100000 - first / 4 - second / 2;
  CHECK(seconds_of(run.elapsed).value() == Approx(first + second + left).epsilon(1e-9));
  CHECK(run.data_usd == Approx(0.02 * 6 * 3600 + 0.04 * (first + second + left - 6 * 3600)).epsilon(1e-9));
  REQUIRE(run.conditions.size() == 3);
  CHECK(seconds_of(run.conditions[2].at).value() == Approx(7 * 3600.0));
}

TEST_CASE("storage whose load stays low does not grow", "[campaign][over_time]") {
  CampaignSettings settings;
  settings.storage = StorageGrowth{.tiers = {"second"}, .load = 0.8, .delay = Seconds{60}};
  const auto plan =
      plan_of({{{}, {step_of(1, 1, 0.79), step_of(1, 1, 0.4)}}}, {.samples = 1e5, .batch = 1}, settings);
  CHECK(undisturbed(plan).conditions.size() == 1);
}
