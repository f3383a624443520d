// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign.hpp"

#include <fmt/format.h>

#include "sim/base/refuse.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway {

std::vector<Seconds> client_steps(const Run& run, std::string_view engine) {
  const auto& local = run.scenario.job.local_sgd;
  if (!local || !local->clients) return {};
  const auto& metrics = run.measured.metrics;
  const Flops work{metrics.tflops_per_gpu * 1e12 * metrics.step_time.value() * run.scenario.job.gpus};
  std::vector<Seconds> steps;
  for (std::size_t i = 0; i < local->clients->classes.size(); ++i) {
    const auto& client_class = local->clients->classes[i];
    if (client_class.rate && !(work > Flops{}))
      refuse(fmt::format("clients of class '{}' have a rate, but the FLOPs of the model '{}' are unknown",
                         client_class.name, run.scenario.model.name),
             "give them 'step', 'slowdown' or 'platform'");
    if (!client_class.platform.empty()) {
      steps.push_back(ask(*run.scenario.clients.at(i), {.engine = engine}).measured.metrics.step_time);
    } else if (client_class.rate) {
      steps.push_back(work / *client_class.rate);
    } else {
      steps.push_back(client_class.step.value_or(metrics.step_time * client_class.slowdown));
    }
  }
  return steps;
}

}  // namespace gradway
