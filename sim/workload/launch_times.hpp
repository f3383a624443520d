// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "sim/workload/operation.hpp"

namespace gradway {

/// Classes of operations by the CPU time that eager PyTorch needs to issue them.
enum class LaunchClass : std::uint8_t {
  light,  ///< elementwise operations and sums
  cast,
  product,
  attention,
  norm,
  batch_norm,
  convolution,
  grouped_convolution,
  scatter  ///< operations of several kernels and with temporary memory: index, sort, gradients of embeddings
};

/// CPU time in microseconds, with the views, autograd nodes and Python code around an operation.
///
/// @source own measurement, 2026-11-26, an H200 and 16 cores, PyTorch 2.11, transformers 5.17, torchvision
/// 0.26: shortest CPU times of forward and backward passes of 23 programs at batches so small that the GPU
/// waits (332 to 4,454 operations). Least squares of relative errors around the times of single operations in
/// loops without synchronisation (on the same host; standard deviation 30 %). Residuals: mean 5 and 7 %,
/// worst 16 and 14 %; fitted to half of the programs, the others are 9 % off on average. One time for all
/// operations leaves 14 and 18 %, worst 36 and 48 %.
struct ClassTime {
  double forward;
  double backward;
};
inline constexpr std::array<ClassTime, 9> launch_times{
    {{16, 13}, {11, 14}, {36, 28}, {120, 72}, {30, 32}, {33, 39}, {36, 40}, {210, 138}, {77, 132}}};

/// CPU time of the mean eager operation on that host (`eager_operation` of measure_kernels.py: 30.3, 31.8 and
/// 32.1 us), over 1.1: the median CPU time of a pass over its shortest, which the figures above are.
inline constexpr double mean_operation = 29;

/// CPU time of autograd's AccumulateGrad for a parameter in units of that of the mean eager operation.
inline constexpr double host_share_of_gradient = 4 / mean_operation;

/// CPU time of each further call of an operation that Transformer Engine launches expert by expert, in C++:
/// of a product by cuBLASLt, and of a cast, which is a plain launch (`launch_cost` of GPUs, 5.3 us), over the
/// default `eager_operation`, 44 us.
/// @source github.com/NVIDIA/TransformerEngine/pull/3134: the products of 8 experts with 128 rows each take
/// 267 us by cuBLASLt on several streams, and 69 us in one launch
inline constexpr double host_share_of_expert_product = 33.0 / 44;
inline constexpr double host_share_of_expert_cast = 5.3 / 44;

constexpr double host_share(LaunchClass launch, bool is_backward) {
  const auto& time = launch_times[static_cast<std::size_t>(launch)];
  return (is_backward ? time.backward : time.forward) / mean_operation;
}

LaunchClass launch_class(const Operation& operation);

/// Sets the CPU times of a layer of an architecture. @param parameters number of trained parameters
void set_host_shares(LayerOperations& layer, std::size_t parameters);

}  // namespace gradway
