// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/phase_steps.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sim/compute/memory_range.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/parallel.hpp"

namespace gradway {
namespace {

constexpr int most_doublings = 6;  // of the batch, without a limit in samples

Seconds exposed_gradients(const Metrics& metrics) {
  return metrics.exposed[static_cast<std::size_t>(Purpose::data)];
}

StepVariant variant_of(const Run& run) {
  const auto& metrics = run.measured.metrics;
  StepVariant step{
      .step = metrics.step_time, .samples = metrics.samples, .exposed = exposed_gradients(metrics)};
  if (const auto& loading = metrics.loading; loading && metrics.step_time > Seconds{}) {
    step.storage_read = loading->read / metrics.step_time;
    step.storage_busy = loading->storage_busy.value_or(0);
  }
  if (const auto cost = samples_cost(run.scenario.job.input)) step.storage_usd_per_s = cost->usd_per_s;
  return step;
}

/// The largest global batch that a batch rule may choose.
double largest_of(const Run& run, const BatchRule& rule) {
  if (rule.largest) return *rule.largest;
  const auto& settings = *run.scenario.campaign;
  const auto& metrics = run.measured.metrics;
  if (!settings.convergence || !settings.convergence->critical_batch)
    return metrics.samples * (1 << most_doublings);
  return *settings.convergence->critical_batch /
         (settings.tokens ? metrics.tokens_per_sample.value_or(1) : 1);
}

StepVariant adapted(const Run& run, const BatchRule& rule) {
  const auto largest = largest_of(run, rule);
  auto step = variant_of(run);
  auto job = run.scenario.job;
  bool has_memory = !run.scenario.model.profile && knows_memory(run.scenario);
  while (step.exposed > step.step * rule.exposed && step.samples * 2 <= largest) {
    std::optional<Run> next;
    if (has_memory) {
      auto wider = job;
      wider.batch_per_gpu *= 2;
      next = ask(run.scenario, wider, {});
      has_memory = surely_fits(next->scenario, next->measured.memory);
      if (has_memory) job = wider;
    }
    if (!has_memory) {
      job.accumulate *= 2;
      next = ask(run.scenario, job, {});
    }
    step = variant_of(*next);
  }
  return step;
}

}  // namespace

std::vector<PhaseSteps> phase_steps(const Run& run, int threads) {
  const auto& scenario = run.scenario;
  const auto& settings = *scenario.campaign;
  if (!settings.changes_over_time()) return {};
  const auto step_of = [&](const Run& variant) {
    return settings.adapt ? adapted(variant, *settings.adapt) : variant_of(variant);
  };
  if (scenario.phases.empty()) return {{std::nullopt, {step_of(run)}}};
  std::map<std::string, std::size_t> places;  // by digest: settings that repeat are simulated once
  std::vector<const Scenario*> different;
  for (const auto& phase : scenario.phases)
    for (const auto& step : phase.steps)
      if (places.emplace(step->digest, different.size()).second) different.push_back(step.get());
  std::vector<StepVariant> steps(different.size());
  for_each_in_parallel(different.size(), threads,
                       [&](std::size_t i) { steps[i] = step_of(ask(*different[i])); });
  const double unit = settings.tokens ? run.measured.metrics.tokens_per_sample.value_or(1) : 1;
  std::vector<PhaseSteps> phases;
  for (const auto& phase : scenario.phases) {
    auto& of_phase = phases.emplace_back();
    if (phase.until) of_phase.until = *phase.until / unit;
    for (const auto& step : phase.steps) of_phase.steps.push_back(steps[places.at(step->digest)]);
  }
  return phases;
}

}  // namespace gradway
