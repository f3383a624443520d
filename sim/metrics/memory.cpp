// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "sim/metrics/measure.hpp"

namespace gradway {

Bytes peak_memory(const Scenario& scenario) {
  const auto& job = scenario.job;
  const Bytes parameters{4 * static_cast<double>(scenario.model.parameter_count())};
  const bool half = job.precision == Precision::bf16 || job.precision == Precision::fp16;
  const auto saved =
      std::accumulate(scenario.model.layers.begin(), scenario.model.layers.end(), 0.0,
                      [](double sum, const Layer& layer) { return sum + layer.saved_elements_per_sample; });
  const Bytes activations{saved * job.batch_per_gpu * (half ? 2 : 4)};
  const auto state = job.optimizer == Optimizer::sgd ? 0_B : 2 * parameters;
  // Measured on an H200 (PyTorch 2.11, vit_l_32): DDP adds one gradient's size with views, two without.
  const double copies = job.strategy.kind != StrategyKind::ddp ? 0
                        : job.strategy.gradient_as_bucket_view ? 1
                                                               : 2;
  return 2 * parameters + state + activations + copies * parameters;
}

}  // namespace gradway
