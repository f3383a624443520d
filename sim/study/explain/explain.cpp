// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/explain.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/parallel.hpp"

namespace gradway {
namespace {

/// One GPU of several is a straggler, for which all others wait.
std::optional<Counterfactual> with_slow_gpu(const Scenario& scenario, std::string_view engine) {
  if (scenario.job.gpus < 2 || scenario.job.slow_gpu > 1 || !trains(scenario.job.strategy))
    return std::nullopt;
  const WhatIf slow{.name = "slow_gpu",
                    .words = fmt::format("one GPU of {} whose kernels take {:.0f} % longer",
                                         scenario.job.gpus, 100 * (slow_gpu_factor - 1)),
                    .set = {{"job.slow_gpu", fmt::format("{}", slow_gpu_factor)}}};
  return counterfactuals({slow}, scenario, {.engine = engine}, 1, true).front();
}

/// Mean steps with other settings of the exchanges between workers.
std::vector<Counterfactual> other_exchanges(const Run& run) {
  const auto mean_step = [&](const Job& job) {
    return outer_loop_of(run.scenario.model, *job.local_sgd, run.measured.metrics.step_time).mean_step();
  };
  const auto step = mean_step(run.scenario.job);
  std::vector<Counterfactual> answers;
  for (auto& what_if : exchange_what_ifs(run.scenario.job)) {
    auto changed = run.scenario.job;
    set_keys(changed, what_if.set);
    if (const auto time = mean_step(changed); time < step) answers.push_back({std::move(what_if), time});
  }
  std::ranges::stable_sort(answers, {}, &Counterfactual::step_time);
  return answers;
}

/// The tiers by which what-ifs name the storage of samples.
std::vector<StorageTier> tiers_of(const InputSettings& input, const std::optional<StorageTier>& drive) {
  std::vector<StorageTier> tiers;
  for (const auto& tier : {drive, input.storage})
    if (tier) tiers.push_back(*tier);
  return tiers;
}

/// Exposed communication is the longest part of the step.
bool is_communication(const Metrics& metrics) {
  const auto components = {metrics.compute, metrics.optimizer, metrics.input_wait, metrics.launch_bound,
                           metrics.idle};
  return metrics.exposed_communication > std::max(components);
}

/// Classes of kernels by their share of the time of both passes, without those below 1 %.
std::vector<KernelShare> kernel_shares(const ComputeCosts& costs) {
  const auto sum = total({costs.by_class.begin(), costs.by_class.end()});
  std::vector<KernelShare> shares;
  for (std::size_t i = 0; i < costs.by_class.size(); ++i) {
    const auto share = costs.by_class[i] / sum;
    if (100 * share >= 1) shares.push_back({static_cast<OperationClass>(i), share});
  }
  std::ranges::stable_sort(shares, std::greater{}, &KernelShare::share);
  return shares;
}

/// Adds the ways of a staged dataset, and what would end its first epoch earlier.
void add_staging(Explanation& explanation, const Scenario& scenario, std::string_view engine, int threads) {
  const auto& input = scenario.job.input;
  explanation.ways_in = ways_in(scenario, engine, threads);
  if (!explanation.ways_in) return;
  const auto& staging = *explanation.ways_in;
  const auto first_epoch = staging.chosen(input.stage_in).time_of(1);
  const auto add = [&](std::string name, std::string words, std::string key, std::string value,
                       Seconds time) {
    Counterfactual counterfactual{{std::move(name), std::move(words), {{std::move(key), std::move(value)}}},
                                  time};
    if (counterfactual.gain(first_epoch) >= least_gain)
      explanation.staging.push_back(std::move(counterfactual));
  };
  const bool is_before = input.stage_in == StageIn::before;
  const auto alternative = is_before ? StageIn::during : StageIn::before;
  const auto word = stage_in_words[static_cast<std::size_t>(alternative)];
  if (!input.cache_prefetch)
    add(fmt::format("stage_in_{}", word),
        is_before ? "staged during the job" : "staged before the job starts", "input.stage_in",
        std::string{word}, staging.chosen(alternative).time_of(1));
  if (staging.copy.limit == StageInLimit::streams) {
    auto changed = scenario;
    changed.job.input.copy_streams *= 2;
    add("copy_streams_2x", "twice as many requests in flight while staging", "input.copy_streams",
        fmt::to_string(changed.job.input.copy_streams),
        ways_in(changed, engine, threads)->chosen(input.stage_in).time_of(1));
  }
  std::ranges::stable_sort(explanation.staging, {}, &Counterfactual::step_time);
}

}  // namespace

std::vector<Counterfactual> counterfactuals(const std::vector<WhatIf>& what_ifs, const Scenario& scenario,
                                            const QuestionOptions& options, int threads, bool must_run) {
  std::vector<Question> questions;
  for (const auto& what_if : what_ifs)
    questions.push_back({.scenario = &scenario, .set = what_if.set, .must_run = must_run});
  const auto answers = answers_to(questions, options, in_parallel(threads));
  std::vector<Counterfactual> list;
  for (std::size_t i = 0; i < answers.size(); ++i)
    list.push_back({what_ifs[i], answers[i].metrics.step_time, answers[i].verdict, answers[i].memory});
  return list;
}

Explanation explain(const Scenario& scenario, std::string_view engine, int threads,
                    const std::optional<StorageTier>& drive) {
  Explanation explanation{.run = ask(scenario, {.engine = engine, .micro_batches = FoldMicroBatches::no})};
  const auto& run = explanation.run;
  const auto step = run.measured.metrics.step_time;
  if (run.scenario.model.run) explanation.kernels = kernel_shares(compute_costs(run.scenario));
  const auto& overlap = explanation.overlap;
  if (run.measured.metrics.communication > Seconds{}) explanation.overlap = overlap_of(run, engine);
  explanation.mostly_communication = is_communication(run.measured.metrics);
  if (trains(scenario.job.strategy)) explanation.exposed = exposed_calls(run);
  if (step == Seconds{}) return explanation;
  explanation.slow_gpu = with_slow_gpu(scenario, engine);
  if (const auto& local = run.scenario.job.local_sgd; local && local->wan) {
    explanation.outer = outer_loop_of(run.scenario.model, *local, step);
    explanation.meeting = other_exchanges(run);
  }

  add_staging(explanation, scenario, engine, threads);
  auto answers =
      counterfactuals(what_ifs(run, overlap ? overlap->limit : std::nullopt, drive), scenario,
                      {.engine = engine, .tiers = tiers_of(scenario.job.input, drive)}, threads, true);
  if (overlap && trains(run.scenario.job.strategy))
    answers.push_back({{.name = "perfect_overlap",
                        .words = "all communication overlapped by kernels without contention (a bound, not a "
                                 "simulation)",
                        .is_bound = true},
                       overlap->bound()});
  std::ranges::stable_sort(answers, {}, &Counterfactual::step_time);
  for (auto& counterfactual : answers) {
    auto& list = counterfactual.gain(step) < least_gain ? explanation.no_help : explanation.helps;
    list.push_back(std::move(counterfactual));
  }
  return explanation;
}

}  // namespace gradway
