// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// The arithmetic of matrix products. Parameters and gradients stay fp32 in all of them (autocast).
/// fp8: of the linear layers in a model's blocks; the rest is in bf16.
enum class Precision { fp32, tf32, bf16, fp16, fp8 };
constexpr std::size_t precision_count = 5;

/// What files and reports call them.
inline constexpr std::array<std::string_view, precision_count> precision_words{"fp32", "tf32", "bf16", "fp16",
                                                                               "fp8"};
constexpr std::string_view name_of(Precision precision) {
  return precision_words[static_cast<std::size_t>(precision)];
}
/// Of all that is not a product of 8 bits.
constexpr Precision beside_fp8(Precision precision) {
  return precision == Precision::fp8 ? Precision::bf16 : precision;
}

/// The power to which a GPU lowers its clocks, and what it draws at full clocks, averaged over a step. What
/// products and the like draw can be above the limit: that is what lowers the clocks.
struct GpuPower {
  Watts limit{};
  Watts idle{};           ///< waiting, for another rank too
  Watts communication{};  ///< a collective moves data and nothing else runs
  Watts product{};        ///< in tensor cores: not those in fp32
  Watts product_fp32{};
  Watts attention{};
  Watts convolution{};
  Watts other{};  ///< what the memory bounds
};

/// A GPU as its datasheet and published measurements say.
struct Gpu {
  std::string name;  ///< file name without its ending, for example "l40s"
  std::string source;
  bool ideal = false;          ///< kernels without an explicit time cost nothing; for analysis
  int compute_capability = 0;  ///< 89 for 8.9
  int multiprocessors = 0;     ///< 0: not known
  Bytes memory{};              ///< as the driver reports it
  BytesPerSecond memory_bandwidth{};
  std::array<std::optional<FlopsPerSecond>, precision_count> peak;  ///< dense; empty if the GPU lacks it

  // Share of the peak that kernels of a class reach, each with its source in the GPU's file.
  std::array<double, precision_count> matrix_efficiency{};
  double memory_efficiency = 0;  ///< copies, adds, scalings, optimizers
  double widen_efficiency = 0;   ///< casts from 16 to 32 bits, which reach less
  /// Time of a convolution here over what the rule says that moves it from the GPU on which it was timed.
  double moved_convolutions = 1;
  Seconds kernel_latency{};       ///< shortest duration of a kernel, however small
  Seconds launch_cost{};          ///< CPU time to issue one kernel from eager PyTorch
  std::optional<GpuPower> power;  ///< empty: kernels run at the clocks at which they were timed
};

}  // namespace gradway
