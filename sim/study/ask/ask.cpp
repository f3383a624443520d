// SPDX-License-Identifier: Apache-2.0
#include "sim/study/ask/ask.hpp"

#include <tuple>

#include "sim/base/problem.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway {

Run ask(Scenario scenario, const AskOptions& options) {
  return simulate(std::move(scenario), options.engine, options.fold, options.on_progress,
                  options.micro_batches, options.timelines);
}

Run ask(Scenario scenario, Job job, const AskOptions& options) {
  scenario.job = std::move(job);
  scenario.platform = with_loaders(std::move(scenario.platform), scenario.job);
  return ask(std::move(scenario), options);
}

Answer answer_of(const Run& run) {
  const auto& [job, platform] = std::tie(run.scenario.job, run.scenario.platform);
  const auto memory = memory_range(run.scenario, run.measured.memory);
  return {.job = job,
          .platform = platform.name,
          .gpus = job.gpus,
          .nodes = node_count(platform, job.gpus),
          .metrics = run.measured.metrics,
          .range = run.range,
          .errors = run.errors,
          .memory = memory.expected,
          .verdict = memory.verdict,
          .bottleneck = run.measured.bottleneck,
          .provenance = provenance_class_of(run.step_basis),
          .price = platform.price,
          .basis = run.basis,
          .warnings = run.warnings,
          .failure_reason = memory.verdict > MemoryVerdict::tight ? verdict_in_words(memory) : ""};
}

namespace {

Answer within_limits(Scenario scenario, const QuestionOptions& options) {
  auto job = scenario.job;
  const auto simulated = simulate_within(options.limits, std::move(scenario), options.engine);
  if (const auto* run = std::get_if<Run>(&simulated)) return answer_of(*run);
  return {.outcome = Outcome::beyond_limits,
          .job = std::move(job),
          .memory = std::get<BeyondLimits>(simulated).needs.value_or(Bytes{})};
}

}  // namespace

Answer answer_to(const Question& question, const QuestionOptions& options) {
  auto scenario = *question.scenario;
  if (question.job) scenario.job = *question.job;
  set_keys(scenario, question.set, options.tiers);
  const auto job = scenario.job;
  Answer answer;
  try {
    answer = within_limits(std::move(scenario), options);
  } catch (const ConfigError& error) {
    if (question.must_run) throw;
    answer = {.outcome = Outcome::refused,
              .job = job,
              .verdict = MemoryVerdict::does_not_fit,
              .failure_reason = error.problems().front().what};
  }
  answer.set = question.set;
  return answer;
}

std::vector<Answer> answers_to(const std::vector<Question>& questions, const QuestionOptions& options,
                               const ForEach& for_each) {
  std::vector<Answer> answers(questions.size());
  for_each(questions.size(), [&](std::size_t i) { answers[i] = answer_to(questions[i], options); });
  return answers;
}

}  // namespace gradway
