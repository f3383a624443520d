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

OptimizerCost cost_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return {12_B, 0_B, 0_B, {0, 0.056}, 1.04};
    case Optimizer::adamw:
      return {80_B, 8_B, 4_B, {16.5, 0.54}, 1.12};  // transient: square roots of all second moments
    case Optimizer::adamw_fused:
      return {28_B, 8_B, 0_B, {4.8, 0.166}, 1.18};
    case Optimizer::sgd_momentum:
      return {32_B, 4_B, 0_B, {0, 0.091}, 1.07};
    case Optimizer::adamw_8bit:
      return {Bytes{16.1}, Bytes{2.03}, 0_B, {0, 1.14}, 1.18, false};
    case Optimizer::paged_adamw_8bit:
      return {Bytes{16.1}, 0_B, 0_B, {0, 1.14}, 1.18, false};
    case Optimizer::lion:
      return {76_B, 4_B, 0_B, {0, 3.35}, 1.07};
    case Optimizer::lamb:
      return {52_B, 8_B, 0_B, {9.6, 0.332}, 1.18, false};
    case Optimizer::muon:
      return {76_B, 4_B, 0_B, {0, 21.8}, 1.3};
    case Optimizer::adamw_loop:
      return {80_B, 8_B, 0_B, {0, 5.63}, 1.12, true, 8};
    case Optimizer::adafactor:
      return {76_B, 0_B, 0_B, {0, 3.35}, 1.07, false};
  }
  return {};
}

}  // namespace gradway
