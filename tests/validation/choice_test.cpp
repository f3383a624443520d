// SPDX-License-Identifier: Apache-2.0
// A prediction is there to choose by. Of the settings that were measured for one job on our own node, the one
// that is predicted to be the fastest must be nearly as fast as the one that was measured to be.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/study/search/search_space.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

struct MeasuredChoice {
  std::string name;
  Seconds predicted{};
  Seconds measured{};
  std::vector<PossibleError> errors{};
  int departures = 0;  ///< from PyTorch's defaults, beside its cap
};

/// Settings of DDP by job: model, GPUs, batch, accumulation and NCCL's variables are the same within each.
using SameJob = std::tuple<std::string, int, int, int, std::map<std::string, std::string>>;

std::map<SameJob, std::vector<MeasuredChoice>> choices(bool lossy) {
  std::map<SameJob, std::vector<MeasuredChoice>> by_job;
  const auto cases = load_cases(std::string{GRADWAY_SOURCE_DIR} + "/scenarios/h200-4x/cases.yaml", data);
  for (const auto& one : cases.cases) {
    const auto scenario = load_scenario(one.scenario_file, one.set, data);
    const auto& job = scenario.job;
    if (!std::holds_alternative<Ddp>(job.strategy) || job.gpus == 1) continue;
    if (is_lossy(std::get<Ddp>(job.strategy).comm_hook) && !lossy) continue;
    auto run = simulate(scenario);
    const int departures = int{std::get<Ddp>(job.strategy).gradient_as_bucket_view} +
                           int{std::get<Ddp>(job.strategy).comm_hook != CommHook::none};
    by_job[{scenario.model.name, job.gpus, job.batch_per_gpu, job.accumulate, job.nccl}].push_back(
        {one.name, run.measured.metrics.step_time, one.measured, std::move(run.errors), departures});
  }
  std::erase_if(by_job, [](const auto& entry) { return entry.second.size() < 3; });
  return by_job;
}

const MeasuredChoice& chosen_of(const std::vector<MeasuredChoice>& all) {
  return *std::ranges::min_element(all, {}, &MeasuredChoice::predicted);
}

const MeasuredChoice& best_of(const std::vector<MeasuredChoice>& all) {
  return *std::ranges::min_element(all, {}, &MeasuredChoice::measured);
}

/// How much longer the step is that one chooses by prediction than the best, both as measured.
double regret(const std::vector<MeasuredChoice>& all) {
  return chosen_of(all).measured / best_of(all).measured - 1;
}

/// What is at stake: how much longer the worst is than the best.
double stake(const std::vector<MeasuredChoice>& all) {
  const auto [best, worst] = std::ranges::minmax(all, {}, &MeasuredChoice::measured);
  return worst.measured / best.measured - 1;
}

}  // namespace

TEST_CASE("settings chosen by prediction are within a percent of the best, where up to 47 % are at stake",
          "[validation]") {
  const auto jobs = choices(false);
  REQUIRE(jobs.size() == 5);  // two models on 4 GPUs over NVLink and through host memory, one on 2
  double most = 0;
  for (const auto& [job, all] : jobs) {
    CAPTURE(chosen_of(all).name, best_of(all).name);
    CHECK(regret(all) < 0.01);
    CHECK(stake(all) > 0.04);
    most = std::max(most, stake(all));
  }
  CHECK(most > 0.45);
}

TEST_CASE("with hooks that lose something they are within 2.5 % of the best", "[validation]") {
  const auto jobs = choices(true);
  REQUIRE(jobs.size() == 5);
  for (const auto& [job, all] : jobs) {
    CAPTURE(chosen_of(all).name, best_of(all).name);
    CHECK(regret(all) < 0.025);
  }
}

TEST_CASE("the simplest of what cannot be told from the fastest is within 3.4 % of the best",
          "[validation]") {
  const auto jobs = choices(GENERATE(false, true));
  for (const auto& [job, all] : jobs) {
    std::vector<std::optional<Choice>> ranked;
    for (const auto& one : all) ranked.push_back(Choice{one.predicted.value(), one.predicted, one.errors});
    const auto tied = leaders_of(ranked).which;
    const auto simplest =
        *std::ranges::min_element(tied, {}, [&](std::size_t i) { return all[i].departures; });
    CAPTURE(all[simplest].name, best_of(all).name, tied.size());
    CHECK(all[simplest].measured / best_of(all).measured - 1 < 0.034);
  }
}
