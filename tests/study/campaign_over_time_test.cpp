// SPDX-License-Identifier: Apache-2.0
// Campaigns in phases, from the files of a scenario to their course.
#include <cmath>

#include <catch2/catch.hpp>

#include "sim/compute/memory_range.hpp"
#include "sim/config/config.hpp"
#include "sim/study/campaign/campaign.hpp"
#include "sim/study/campaign/phase_steps.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

Run step_of(const std::string& scenario, const std::vector<Override>& set) {
  return simulate(load_scenario(scenario, set, data));
}

CampaignAnswers answers_to(const std::string& scenario, const std::vector<Override>& set) {
  return answers_of(step_of(scenario, set), {.seeds = 10});
}

const std::string ramp = "[{ until: 12B, by: 256, set: { job.global_batch: 256 } }]";

}  // namespace

TEST_CASE("a batch that grows in equal parts is Megatron-LM's ramp-up", "[study][campaign][over_time]") {
  const auto run = step_of("campaign/llama2_7b-aws-p5", {{"campaign.phases", ramp}});
  const auto& phases = run.scenario.phases;
  REQUIRE(phases.size() == 4);  // 256, 512 and 768 samples, then the job's own 1,024
  for (int i = 0; i < 4; ++i) {
    const auto& phase = phases[static_cast<std::size_t>(i)];
    CHECK(phase.steps.front()->job.samples() == 256 * (i + 1));
    if (i < 3) CHECK(*phase.until == Approx(4e9 * (i + 1)));
  }
  const auto plan = plan_campaign(run.scenario, run.measured.metrics, run.range, {}, phase_steps(run, 2));
  double steps = 0;
  for (int i = 0; i < 3; ++i) steps += 4e9 / 4096 / (256 * (i + 1));
  steps += (300e9 - 12e9) / 4096 / 1024;
  CHECK(plan.steps == Approx(steps).margin(4));
  CHECK(plan.samples == Approx(300e9 / 4096).margin(2048));
  CHECK(plan.over_time->phases[0].steps[0].step < plan.over_time->phases[3].steps[0].step);
}

TEST_CASE("a phase without another value leaves the campaign as it is", "[study][campaign][over_time]") {
  const auto as_it_is = answers_to("campaign/llama2_7b-aws-p5", {});
  const auto parted = answers_to("campaign/llama2_7b-aws-p5",
                                 {{"campaign.phases", "[{ until: 150B, set: { job.accumulate: 16 } }]"}});
  CHECK(parted.plan.steps == Approx(as_it_is.plan.steps).margin(1));
  CHECK(parted.estimate.seconds.value == Approx(as_it_is.estimate.seconds.value).epsilon(1e-3));
}

TEST_CASE("the course of a campaign adds up to its samples, time and dollars",
          "[study][campaign][over_time]") {
  const auto answers = answers_to("campaign/llama2_7b-aws-p5", {{"campaign.phases", ramp}});
  double trained = 0, lost = 0, until = 0;
  for (const auto& span : answers.course) {
    CHECK(span.from_s == until);
    until = span.to_s;
    trained += span.samples_per_s * (span.to_s - span.from_s);
  }
  const auto& typical = answers.typical;
  for (const auto& stop : typical.interruptions)
    lost += static_cast<double>(stop.before - stop.after) / static_cast<double>(typical.work);
  CHECK(until == Approx(seconds_of(typical.elapsed).value()));
  CHECK(trained == Approx(answers.plan.samples * (1 + lost)).epsilon(0.02));  // parts of the ramp differ
  CHECK(*answers.course.back().usd == Approx(until / 3600 * 8 * 55.04).epsilon(1e-6));
}

TEST_CASE("an adapting batch is the smallest that hides the exchange", "[study][campaign][over_time]") {
  const std::vector<Override> set{{"campaign.samples", "10M"}, {"campaign.adapt.exposed", "20 %"}};
  const auto run = step_of("article/g6e", set);
  const auto exposed = [](const Run& one) {
    const auto& metrics = one.measured.metrics;
    return metrics.exposed[static_cast<std::size_t>(Purpose::data)] / metrics.step_time;
  };
  REQUIRE(exposed(run) > 0.2);
  const auto found = phase_steps(run, 1).front().steps.front();
  CHECK(found.exposed <= found.step * 0.2);
  const auto times = found.samples / run.measured.metrics.samples;
  CHECK(std::exp2(std::round(std::log2(times))) == times);
  // Half of it exposes more, in memory and by accumulation.
  auto half = run.scenario;
  half.job.batch_per_gpu *= static_cast<int>(times) / 2;
  if (surely_fits(half, simulate(half).measured.memory)) CHECK(exposed(simulate(half)) > 0.2);
  auto limited = set;
  limited.push_back({"campaign.adapt.largest", "256"});
  CHECK(phase_steps(step_of("article/g6e", limited), 1).front().steps.front().samples == 256);
}

TEST_CASE("larger batches than the critical one save few steps", "[study][campaign][over_time]") {
  const auto steps = [](const std::string& batch) {
    const auto answers = answers_to("campaign/llama2_7b-aws-p5",
                                    {{"campaign.convergence", "{ critical_batch: 1.6M, at_batch: 4194304 }"},
                                     {"job.global_batch", batch}});
    const auto& found = *answers.target_steps;
    CHECK(found.low <= found.steps);
    CHECK(found.steps <= found.high);
    CHECK((found.steps / found.least_steps - 1) * (answers.plan.samples / found.least_samples - 1) ==
          Approx(1).epsilon(1e-3));
    return found.steps;
  };
  const auto own = steps("1024");
  CHECK(own == Approx(300e9 / 4194304).margin(1));
  CHECK(steps("4096") / own == Approx((1 + 1.6 / 16.777216) / (1 + 1.6 / 4.194304)).epsilon(1e-3));
}

TEST_CASE("steps of PowerSGD to the same loss are unknown unless they are given", "[study][campaign]") {
  const auto codes = [](const std::vector<Override>& set) {
    std::vector<std::string> found;
    for (const auto& warning : answers_to("article/g6e", set).warnings) found.emplace_back(warning.code);
    return found;
  };
  std::vector<Override> set{{"campaign.samples", "10M"}, {"strategy.comm_hook", "powersgd"}};
  using Catch::Matchers::VectorContains;
  CHECK_THAT(codes(set), VectorContains(std::string{"unknown-lossy-steps"}));
  set.push_back({"campaign.convergence.more_steps", "1.2"});
  CHECK_THAT(codes(set), !VectorContains(std::string{"unknown-lossy-steps"}));
}
