// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/proposed_anchor.hpp"

#include <algorithm>

#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

/// Whether compute times are scaled by an anchor. Explicit times, and those of a profile on its own GPU, are
/// not.
bool can_be_anchored(const Scenario& scenario) {
  const auto& model = scenario.model;
  const auto& gpu = scenario.platform.gpu_models.front();
  if (model.profile) return model.profile->gpu != gpu.name;
  return !gpu.ideal && std::ranges::none_of(
                           model.layers, [](const Layer& layer) { return layer.forward.time.has_value(); });
}

bool is_single_gpu_step(const Job& job) {
  return !facts_of(job.strategy).exchanges && job.gpus == 1 && job.accumulate == 1;
}

}  // namespace

std::optional<Anchor> proposed_anchor(const Scenario& scenario, Seconds measured, const std::string& source) {
  const auto& job = scenario.job;
  if (!is_single_gpu_step(job) || !can_be_anchored(scenario) || !scenario.platform.speeds.as_built())
    return std::nullopt;
  return Anchor{.gpu = scenario.platform.gpu_models.front().name,
                .precision = job.precision,
                .batch = job.batch_per_gpu,
                .optimizer = job.optimizer,
                .step_time = measured,
                .source = source};
}

bool meets_given_step(const Scenario& scenario) {
  const auto& job = scenario.job;
  const auto& gpu = scenario.platform.gpu_models.front().name;
  if (!is_single_gpu_step(job) || !scenario.platform.speeds.as_built()) return false;
  const auto& profile = scenario.model.profile;
  if (profile && profile->gpu == gpu)
    return profile->step_time && profile->batch == job.batch_per_gpu && profile->optimizer == job.optimizer;
  return std::ranges::any_of(scenario.model.anchors, [&](const Anchor& anchor) {
    return anchor.gpu == gpu && anchor.precision == job.precision && anchor.batch == job.batch_per_gpu &&
           anchor.optimizer == job.optimizer;
  });
}

}  // namespace gradway
