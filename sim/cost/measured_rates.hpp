// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// Relative error of predictions: |predicted / measured - 1|.
struct FitError {
  double median = 0;
  double worst = 0;

  bool operator==(const FitError&) const = default;
};

/// The samples of a fitted figure.
struct Fitted {
  int samples = 0;                   ///< 0: unknown
  std::optional<FitError> residual;  ///< of the samples
};

/// The kind of a copy.
enum class LinkRole { to_gpu, from_gpu, pageable_to_gpu, peer, host_memory, pageable_from_gpu, same_gpu };

/// Copies over a link: the time is latency + size / bandwidth.
struct LinkRate {
  LinkRole role = LinkRole::to_gpu;
  int gpus = 1;                         ///< GPUs that copied at the same time
  BytesPerSecond bandwidth{};           ///< host memory: of all copies together, by the slowest copy
  std::optional<BytesPerSecond> least;  ///< least bandwidth if one size is left out of the fit
  std::optional<BytesPerSecond> most;   ///< largest bandwidth if one size is left out of the fit
  Seconds latency{};                    ///< 0 if unknown
  Bytes smallest{};
  Bytes largest{};
  Fitted fitted{};
  std::string source{};
};

/// The arithmetic of a kernel, in the order of `Precision`.
enum class Arithmetic { fp32, tf32, bf16, fp16, fp8 };
inline constexpr std::size_t arithmetic_count = 5;

/// Size class of a matrix product.
enum class ProductShape {
  small,   ///< less than 10 GFLOP
  large,   ///< at least 100 GFLOP, as 4096 x 4096 x 4096
  medium,  ///< at least 10 GFLOP
  skinny   ///< a dimension is below 256
};

/// The rate of matrix products of a size class.
struct MatrixRate {
  Arithmetic arithmetic = Arithmetic::fp32;
  ProductShape shape = ProductShape::large;
  FlopsPerSecond rate{};
  std::optional<double> of_peak{};  ///< fraction of the GPU's datasheet rate; empty: unknown GPU
  Fitted fitted{};
};

/// Memory-bound kernels.
enum class MemoryKernel { copy_fp32, add_fp32, scale_fp32, cast_fp32_bf16, cast_bf16_fp32 };
inline constexpr std::size_t memory_kernel_count = 5;

/// A memory-bound kernel: the time is latency + bytes read and written / bandwidth.
struct MemoryRate {
  MemoryKernel kernel = MemoryKernel::copy_fp32;
  Seconds latency{};
  BytesPerSecond bandwidth{};
  std::optional<double> of_peak{};  ///< fraction of the memory's datasheet rate
  Fitted fitted{};
};

/// An optimizer's step: the time is the maximum of its floor, the CPU's launches, and traffic / bandwidth.
struct OptimizerRate {
  Optimizer optimizer = Optimizer::sgd;
  int tensors = 0;
  Seconds floor{};
  BytesPerSecond bandwidth{};  ///< for the traffic of `cost_of`
  Fitted fitted{};
};

/// Attention forward: the time is latency + operations / rate.
struct AttentionRate {
  Arithmetic arithmetic = Arithmetic::fp32;
  bool causal = false;
  Seconds latency{};
  FlopsPerSecond rate{};
  std::optional<double> of_peak{};
  Fitted fitted{};
};

/// CPU costs of issuing work, see calibration/SAMPLES.md.
enum class LaunchCost { launch, kernel_gap, launch_latency, sync, event, operation };
inline constexpr std::size_t launch_cost_count = 6;

/// The median of a launch cost.
struct LaunchTime {
  LaunchCost what = LaunchCost::launch;
  Seconds time{};
  Fitted fitted{};
};

/// Rates of single kernels. Empty where nothing was measured.
struct KernelRates {
  std::vector<MatrixRate> matrix;
  std::vector<MemoryRate> memory;
  std::vector<OptimizerRate> optimizers;
  std::vector<AttentionRate> attention;
  std::vector<LaunchTime> launches;
  std::optional<Seconds> smallest_kernel;  ///< duration of a kernel with almost no work

  bool empty() const {
    return matrix.empty() && memory.empty() && optimizers.empty() && attention.empty() && launches.empty() &&
           !smallest_kernel;
  }
};

}  // namespace gradway
