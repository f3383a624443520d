// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/clocks.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {
namespace {

/// @pre follows_clocks(kind)
Watts power_of(OperationClass kind, Precision precision, const GpuPower& power) {
  if (kind == OperationClass::attention) return power.attention;
  if (kind == OperationClass::convolution) return power.convolution;
  return precision == Precision::fp32 ? power.product_fp32 : power.product;
}

}  // namespace

void GpuLoad::add(OperationClass kind, Precision precision, Seconds time, const GpuPower& power) {
  if (!follows_clocks(kind)) {
    other += time;
    return;
  }
  clocked += time;
  clocked_joules += time.value() * power_of(kind, precision, power).value();
}

double clock_slowdown(const GpuPower& power, const GpuLoad& load, const WaitRatio& waiting) {
  if (load.clocked <= Seconds{}) return 1;
  const double limit = power.limit.value();
  const auto above = [&](Watts drawn, Seconds time) { return time.value() * (drawn.value() - limit); };
  // limit * clocked * s^2 - excess * s - clocked_joules = 0
  const auto solved = [&](Seconds idle, Seconds communication) {
    const double excess =
        above(power.other, load.other) + above(power.idle, idle) + above(power.communication, communication);
    const double twice = 2 * limit * load.clocked.value();
    return std::max(1.0, (excess + std::sqrt(excess * excess + 2 * twice * load.clocked_joules)) / twice);
  };
  const auto busy = load.clocked * solved({}, {}) + load.other;
  return solved(busy * waiting.idle, busy * waiting.communication);
}

Seconds longest_effective_wait(const GpuPower& power, const GpuLoad& load) {
  constexpr auto window = 80_ms;
  const double watts =
      (load.clocked_joules + load.other.value() * power.other.value()) / (load.clocked + load.other).value();
  return window * ((watts - power.limit.value()) / (watts - power.idle.value()));
}

}  // namespace gradway
