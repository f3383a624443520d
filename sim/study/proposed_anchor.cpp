// SPDX-License-Identifier: Apache-2.0
#include "sim/study/proposed_anchor.hpp"

#include <algorithm>

namespace gradway {
namespace {

/// Explicit times, and those of a profile on its own GPU, are not scaled.
bool can_be_anchored(const Scenario& scenario) {
  const auto& model = scenario.model;
  const auto& gpu = scenario.platform.gpu_models.front();
  if (model.profile) return model.profile->gpu != gpu.name;
  return !gpu.ideal && std::ranges::none_of(
                           model.layers, [](const Layer& layer) { return layer.forward.time.has_value(); });
}

}  // namespace

std::optional<Anchor> proposed_anchor(const Scenario& scenario, Seconds measured, const std::string& source) {
  const auto& job = scenario.job;
  const bool is_alone = std::holds_alternative<Alone>(job.strategy) && job.gpus == 1 && job.accumulate == 1;
  if (!is_alone || !can_be_anchored(scenario) || !scenario.platform.speeds.as_built()) return std::nullopt;
  return Anchor{.gpu = scenario.platform.gpu_models.front().name,
                .precision = job.precision,
                .batch = job.batch_per_gpu,
                .optimizer = job.optimizer,
                .step_time = measured,
                .source = source};
}

}  // namespace gradway
