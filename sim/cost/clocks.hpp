// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// Whether kernels of a class slow down with the clocks. All others are memory-bound.
constexpr bool follows_clocks(OperationClass kind) {
  return kind == OperationClass::product || kind == OperationClass::attention ||
         kind == OperationClass::convolution;
}

/// The work of a GPU in a step at full clocks.
struct GpuLoad {
  Seconds clocked{};          ///< time of kernels that follow the clocks: products, attention, convolutions
  double clocked_joules = 0;  ///< energy of these kernels
  Seconds other{};            ///< time of all other kernels

  /// @param time of the operation at full clocks. A kernel that follows the clocks draws `kernel` W and, for
  ///        its arithmetic, as much energy per operation as the units draw at their peak rate.
  /// @source own measurement, 2026-12-01, an H200 of 700 W: 64 products, attention kernels and convolutions,
  ///         bf16, fp16, fp8 and tf32 at 11 to 83 % of their peak, each in a loop of its own: the durations
  ///         in the loop over those in short bursts are 2.0 % off on average, at most 8 %, where operands
  ///         lie in the L2 cache
  void add(const Operation& operation, Seconds time, const Gpu& gpu);
};

/// Time that a GPU waits as a multiple of the time that its kernels run.
struct WaitRatio {
  double idle = 0;           ///< nothing runs
  double communication = 0;  ///< only a collective runs

  /// Waits so long that the power limit never lowers its clocks.
  static constexpr WaitRatio always() { return {.idle = 1e6}; }

  bool operator==(const WaitRatio&) const = default;
};

/// Slow-down (at least 1) of the kernels of `load.clocked` by the power limit, which lowers the clocks. The
/// power of such a kernel is proportional to the square of its speed, since the voltage follows the clocks;
/// all other power is constant. The mean power of a step equals the limit:
///
///     clocked s (P / s^2 - limit) + other (P_other - limit) + waiting (P_waiting - limit) = 0
///
/// @param waiting relative to the kernels' time at the clocks of a GPU that never waits
/// @source own measurement, 2026-11-22, H100 and H200 of 700 W: durations of products that alternate with
///         additions, for shares of products from 0.13 to 1, follow the formula within 3.4 % (H100) and 1.8 %
///         (H200); the limit holds for the mean over half a second or more (bursts of 0.5 to 300 ms are
///         equal). sim/decisions/0025-lower-clocks-at-the-power-limit.md
double clock_slowdown(const GpuPower& power, const GpuLoad& load, const WaitRatio& waiting);

/// The longest wait that counts for the power limit. The GPU keeps the limit over a sliding window w. After a
/// wait as long as the window, kernels run at full clocks until the mean of the window reaches the limit, for
/// w (limit - idle) / (P - idle). On average over all time, this equals a wait of
///
///     w (P - limit) / (P - idle)
///
/// where P is the power of the GPU's kernels at full clocks. @pre P is above the limit
/// @source own measurement, 2026-11-23, an H100: products in bursts with pauses of equal length or a third of
///         it run at full clocks in bursts of 20 ms, and for 57 to 85 ms at most in bursts of 0.1 to 2 s
Seconds longest_effective_wait(const GpuPower& power, const GpuLoad& load);

}  // namespace gradway
