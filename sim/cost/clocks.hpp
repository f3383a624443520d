// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// Whether kernels of a class slow down with the clocks; the memory's pace bounds all others.
constexpr bool follows_clocks(OperationClass kind) {
  return kind == OperationClass::product || kind == OperationClass::attention ||
         kind == OperationClass::convolution;
}

/// What a GPU does in a step, at full clocks.
struct GpuLoad {
  Seconds clocked{};          ///< kernels that slow down with the clocks: products, attention, convolutions
  double clocked_joules = 0;  ///< that these take
  Seconds other{};            ///< kernels that keep their pace

  void add(OperationClass kind, Precision precision, Seconds time, const GpuPower& power);
};

/// How long a GPU waits, over how long its kernels run.
struct Waiting {
  double idle = 0;           ///< nothing runs
  double communication = 0;  ///< a collective runs and no kernel beside it

  /// So long that its clocks stay up.
  static constexpr Waiting always() { return {.idle = 1e6}; }

  bool operator==(const Waiting&) const = default;
};

/// How many times longer the kernels of `load.clocked` take once the power limit has lowered the clocks: at
/// least 1. A kernel's power goes with the square of its pace (the voltage follows the clocks), that of all
/// else stays, and on average over a step the limit holds:
///
///     clocked s (P / s^2 - limit) + other (P_other - limit) + waiting (P_waiting - limit) = 0
///
/// @param waiting at the clocks of a GPU that never waits
/// @source own measurement, 2026-11-22, H100 and H200 of 700 W: products in turns with additions, their share
/// from 0.13 to 1, last as the formula says within 3.4 % (H100) and 1.8 % (H200); the limit holds for the
/// mean over half a second and more (bursts of 0.5 to 300 ms alike).
/// sim/decisions/0025-lower-clocks-at-the-power-limit.md
double clock_slowdown(const GpuPower& power, const GpuLoad& load, const Waiting& waiting);

/// Of a wait so long counts: the GPU holds the limit over a window that slides along, and what lies further
/// back is forgotten. Behind a wait as long as the window w, kernels run at full clocks until its mean is the
/// limit, for w (limit - idle) / (P - idle); as much as a wait of
///
///     w (P - limit) / (P - idle)
///
/// would give them on average over all time. P: of the GPU's kernels at full clocks. @pre P is above the
/// limit
/// @source own measurement, 2026-11-23, an H100: products in bursts with pauses between, as long or a third
/// as long, run at full clocks in those of 20 ms, and for 57 to 85 ms at most in those of 0.1 to 2 s
Seconds longest_cooling(const GpuPower& power, const GpuLoad& load);

}  // namespace gradway
