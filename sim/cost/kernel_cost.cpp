// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/kernel_cost.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"

namespace gradway {

Seconds memory_time(Bytes traffic, const Gpu& gpu, MemoryPattern pattern, int kernels) {
  if (gpu.ideal || kernels == 0) return {};
  const auto efficiency = pattern == MemoryPattern::widen ? gpu.widen_efficiency : gpu.memory_efficiency;
  return std::max(gpu.kernel_latency * kernels, traffic / (gpu.memory_bandwidth * efficiency));
}

Bytes optimizer_traffic_per_parameter(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return 12_B;
    case Optimizer::adamw:
      return 80_B;
    case Optimizer::adamw_fused:
      return 28_B;
  }
  return {};
}

Seconds optimizer_launch_time(Optimizer optimizer, std::size_t tensors) {
  const auto count = static_cast<double>(tensors);
  switch (optimizer) {
    case Optimizer::sgd:
      return 0.99_us * count;
    case Optimizer::adamw:
      return 6.38_us * count;
    case Optimizer::adamw_fused:
      return 1.83_us * count;
  }
  return {};
}

}  // namespace gradway
