// SPDX-License-Identifier: Apache-2.0
#include "sim/study/ask/ask.hpp"

#include <tuple>

#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway {

Run ask(Scenario scenario, const AskOptions& options) {
  return simulate(std::move(scenario), options.engine, options.fold, options.on_progress,
                  options.micro_batches, options.timelines);
}

Run ask(Scenario scenario, const Settings& changes, const AskOptions& options,
        const std::vector<StorageTier>& tiers) {
  set_keys(scenario, changes, tiers);
  return ask(std::move(scenario), options);
}

Run ask(Scenario scenario, Job job, const AskOptions& options) {
  scenario.job = std::move(job);
  scenario.platform = with_loaders(std::move(scenario.platform), scenario.job);
  return ask(std::move(scenario), options);
}

Answer answer_of(const Run& run) {
  const auto& [job, platform] = std::tie(run.scenario.job, run.scenario.platform);
  return {.platform = platform.name,
          .gpus = job.gpus,
          .nodes = node_count(platform, job.gpus),
          .metrics = run.measured.metrics,
          .range = run.range,
          .errors = run.errors,
          .memory = run.measured.memory.needed(),
          .verdict = memory_range(run.scenario, run.measured.memory).verdict,
          .bottleneck = run.measured.bottleneck,
          .provenance = provenance_class_of(run.step_basis),
          .price = platform.price,
          .basis = run.basis,
          .warnings = run.warnings};
}

std::variant<Answer, BeyondLimits> ask_within(const StepLimits& limits, Scenario scenario,
                                              std::string_view engine) {
  const auto simulated = simulate_within(limits, std::move(scenario), engine);
  if (const auto* beyond = std::get_if<BeyondLimits>(&simulated)) return *beyond;
  return answer_of(std::get<Run>(simulated));
}

}  // namespace gradway
