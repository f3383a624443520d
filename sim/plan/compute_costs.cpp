// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/compute_costs.hpp"

#include <numeric>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/plan/anchors.hpp"
#include "sim/platform/host_copy.hpp"

namespace gradway {
namespace {

Seconds optimizer_time(const Scenario& scenario, const Gpu& gpu, Optimizer optimizer) {
  if (scenario.model.optimizer_time) return *scenario.model.optimizer_time;
  const auto parameters = static_cast<double>(scenario.model.parameter_count());
  return memory_time(optimizer_traffic_per_parameter(optimizer) * parameters, gpu);
}

/// Of a sample, forward and backward.
Flops work_of_layers(const Model& model) {
  Flops work{};
  for (const auto& layer : model.layers)
    work += layer.forward.flops_per_sample + layer.backward.flops_per_sample;
  return work;
}

void add_layers(ComputeCosts& costs, const Scenario& scenario, const Gpu& gpu, int batch) {
  for (const auto& layer : scenario.model.layers) {
    costs.forward.push_back(layer_time(layer.forward, batch, scenario.job.precision, gpu));
    costs.backward.push_back(layer_time(layer.backward, batch, scenario.job.precision, gpu));
  }
}

}  // namespace

Seconds input_copy_time(const Scenario& scenario, int batch) {
  const Routes routes{scenario.platform};
  const auto way = host_copy_way(routes, scenario.platform, 0);
  const auto bytes = scenario.model.input_per_sample * batch;
  if (bytes == 0_B || !way) return {};
  auto rate = way->slowest;
  if (!scenario.job.input.pin_memory && scenario.platform.pageable_copy_rate) {
    rate = std::min(rate, *scenario.platform.pageable_copy_rate);
  }
  return way->latency + bytes / rate;
}

ComputeCosts compute_costs(const Scenario& scenario) {
  const auto& gpu = scenario.platform.gpu_models.front();
  ComputeCosts costs;
  costs.optimizer = optimizer_time(scenario, gpu, scenario.job.optimizer);
  if (scenario.model.profile) {
    costs.profile = profile_costs(scenario);
    return costs;
  }
  add_layers(costs, scenario, gpu, scenario.job.batch_per_gpu);
  if (const auto* anchor = matching_anchor(scenario, gpu)) costs.anchor = *anchor;
  if (!costs.anchor) return costs;

  ComputeCosts measured;
  add_layers(measured, scenario, gpu, costs.anchor->batch);
  const auto fixed =
      input_copy_time(scenario, costs.anchor->batch) + optimizer_time(scenario, gpu, costs.anchor->optimizer);
  if (costs.anchor->step_time <= fixed) {
    throw ConfigError{
        {{},
         fmt::format("model '{}': the anchor of {:.4g} ms a step on {} leaves no time for its layers: the "
                     "input copy and the optimizer alone take {:.4g} ms",
                     scenario.model.name, costs.anchor->step_time.value() * 1e3, gpu.name,
                     fixed.value() * 1e3),
         {},
         "check its 'step_time' or 'rate', 'batch' and 'optimizer'"}};
  }
  refuse_beyond_peak(scenario, gpu, *costs.anchor, work_of_layers(scenario.model) * costs.anchor->batch,
                     costs.anchor->step_time - fixed);
  costs.anchor_scale =
      (costs.anchor->step_time - fixed) / (total(measured.forward) + total(measured.backward));
  for (auto& time : costs.forward) time = time * costs.anchor_scale;
  for (auto& time : costs.backward) time = time * costs.anchor_scale;
  return costs;
}

}  // namespace gradway
