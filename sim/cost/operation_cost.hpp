// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/kernel_times.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// Time of an operation by the datasheet of a GPU (roofline): the maximum of arithmetic over peak rate and of
/// bytes over memory bandwidth, each with the efficiency of its class, plus a latency. Attention is slower if
/// it has fewer blocks (128 queries of a head each) than the GPU has multiprocessors.
/// @throws ConfigError if the GPU's file has no peak for the precision
Seconds datasheet_time(const Operation& operation, const Gpu& gpu);

/// Slow-down of a 16-bit product on an A100 or A30 because its tiles do not fill the last wave; 1 for all
/// other operations and GPUs. It applies to times that are extrapolated from another GPU. Times that were
/// measured on the GPU include it.
/// @source SimuMax (github.com/MooreThreads/SimuMax at 4dcaae51), configs/system/a100_pcie.json: 183 products
///         on an A100. Extrapolated from the H100 with one common scale, their mean error is 4.0 % with this
///         factor and 5.4 % without
double last_wave(const Operation& operation, const Gpu& gpu);

/// The timed operation whose efficiency an operation has on an A100 or A30 when its time is extrapolated from
/// an H100 or H200: a weight gradient in TF32 reaches that of a forward product. Hopper's wgmma reads
/// operands of 32 bits along k only, so that such products reach 0.50 of the peak there, forward products
/// 0.78 (in 16 bits 0.70 and 0.71; means of rows from 30 GFLOP in calibration/results/h100-kernels). Ampere's
/// mma has no such limit.
/// @source PTX ISA, wgmma.mma_async: transposition is supported for .f16 and .bf16 only
Operation moved_as(const Operation& operation, const Gpu& gpu);

/// Correction of datasheet times by timed kernels. Each timed kernel has a factor: its time over its
/// datasheet time on the GPU on which it was timed. The factor of an operation is the weighted geometric mean
/// over the nearest timed kernels of its kind in the logarithms of their sizes. A kernel that was timed
/// itself thus gets its own time, and on another GPU datasheet times are scaled by the same factors.
class OperationCosts {
 public:
  /// @param timed_on the GPU of `times`
  OperationCosts(const KernelTimes& times, const Gpu& timed_on);

  /// The same, and kernels that only the other GPU timed by their factors there.
  OperationCosts with(const OperationCosts& additional) const;

  const std::string& source() const { return source_; }
  /// Whether the kernels were timed on a GPU of AMD.
  bool timed_on_amd() const { return timed_on_amd_; }

  /// The factor on the datasheet time of an operation. 1 if no kernel of its kind was timed.
  double factor(const Operation& operation) const;

 private:
  struct Point {
    std::array<double, 10> at{};  ///< coordinates
    double factor = 0;            ///< logarithm of the factor
  };
  using Points = std::vector<Point>;
  struct Near {
    double distance;
    const Point* point;
  };
  std::vector<const Points*> points_of_kernel(std::string_view kernel) const;
  std::vector<const Points*> points_for(const Operation& operation) const;
  static std::vector<Near> nearest(const Operation& operation,
                                   const std::vector<const Points*>& points_of_gpus);

  std::string source_;
  bool timed_on_amd_ = false;
  /// By kernel, of each GPU; the first counts where several timed the same kernel.
  std::vector<std::shared_ptr<const std::map<std::string, Points, std::less<>>>> timed_;
};

}  // namespace gradway
