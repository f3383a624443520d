// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// How far predictions are from measurements: |predicted / measured - 1|.
struct FitError {
  double median = 0;
  double worst = 0;

  bool operator==(const FitError&) const = default;
};

/// What a figure was fitted to.
struct Fitted {
  int samples = 0;                   ///< 0: not said
  std::optional<FitError> residual;  ///< of the samples
};

/// A way that copies go.
enum class LinkRole { to_gpu, from_gpu, pageable_to_gpu, peer, host_memory, pageable_from_gpu, same_gpu };

/// What copies over a link reach: latency and size over bandwidth.
struct LinkRate {
  LinkRole role = LinkRole::to_gpu;
  int gpus = 1;                         ///< that copied at the same time
  BytesPerSecond bandwidth{};           ///< host memory: of all copies, at the pace of the slowest
  std::optional<BytesPerSecond> least;  ///< bandwidth when any one size is left out of the fit
  std::optional<BytesPerSecond> most;
  Seconds latency{};  ///< 0 if not known
  Bytes smallest{};
  Bytes largest{};
  Fitted fitted{};
  std::string source{};
};

/// The arithmetic of a kernel. The first four are those of a job's `Precision`, in its order.
enum class Arithmetic { fp32, tf32, bf16, fp16, fp8 };
inline constexpr std::size_t arithmetic_count = 5;

/// Size and form of a matrix product.
enum class ProductShape {
  small,   ///< less work than `medium`
  large,   ///< at least 100 GFLOP: 4096 x 4096 x 4096 and more
  medium,  ///< at least 10 GFLOP
  skinny   ///< a dimension below 256, whatever the work
};

/// What matrix products of a shape reach.
struct MatrixRate {
  Arithmetic arithmetic = Arithmetic::fp32;
  ProductShape shape = ProductShape::large;
  FlopsPerSecond rate{};
  std::optional<double> of_peak{};  ///< of the GPU's datasheet rate, if the GPU is known
  Fitted fitted{};
};

/// Kernels that the memory bounds; the last one widens.
enum class MemoryKernel { copy_fp32, add_fp32, scale_fp32, cast_fp32_bf16, cast_bf16_fp32 };
inline constexpr std::size_t memory_kernel_count = 5;

/// What a memory-bound kernel takes: latency and bytes, read and written, over bandwidth.
struct MemoryRate {
  MemoryKernel kernel = MemoryKernel::copy_fp32;
  Seconds latency{};
  BytesPerSecond bandwidth{};
  std::optional<double> of_peak{};  ///< of the memory's datasheet rate
  Fitted fitted{};
};

/// What an optimizer's step takes: its floor, the CPU's launches, or the traffic of the parameters over
/// bandwidth, whichever is longer.
struct OptimizerRate {
  Optimizer optimizer = Optimizer::sgd;
  int tensors = 0;
  Seconds floor{};
  BytesPerSecond bandwidth{};  ///< of the traffic of `cost_of`
  Fitted fitted{};
};

/// What attention forward takes: latency and operations over rate.
struct AttentionRate {
  Arithmetic arithmetic = Arithmetic::fp32;
  bool causal = false;
  Seconds latency{};
  FlopsPerSecond rate{};
  std::optional<double> of_peak{};
  Fitted fitted{};
};

/// What it costs to issue work, see SAMPLES.md of calibration/.
enum class LaunchCost { launch, kernel_gap, launch_latency, sync, event, operation };
inline constexpr std::size_t launch_cost_count = 6;

/// The median of one such cost.
struct LaunchTime {
  LaunchCost what = LaunchCost::launch;
  Seconds time{};
  Fitted fitted{};
};

/// What single kernels reach; empty where nothing was measured.
struct KernelRates {
  std::vector<MatrixRate> matrix;
  std::vector<MemoryRate> memory;
  std::vector<OptimizerRate> optimizers;
  std::vector<AttentionRate> attention;
  std::vector<LaunchTime> launches;
  std::optional<Seconds> smallest_kernel;  ///< duration of a kernel with next to nothing to do

  bool empty() const {
    return matrix.empty() && memory.empty() && optimizers.empty() && attention.empty() && launches.empty() &&
           !smallest_kernel;
  }
};

}  // namespace gradway
