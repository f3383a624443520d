// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/clocks.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {
namespace {

/// Energy of an operation's arithmetic. @pre the GPU has a power limit
double joules_of_arithmetic(const Operation& operation, const Gpu& gpu) {
  const auto& peak = gpu.peak[static_cast<std::size_t>(operation.precision)];
  if (!peak) return 0;  // a format that the GPU lacks: the operation runs in another, at a time of its own
  const auto at_peak =
      operation.precision == Precision::fp32 ? gpu.power->fp32_units : gpu.power->tensor_cores;
  return (operation.flops / *peak).value() * at_peak.value();
}

}  // namespace

void GpuLoad::add(const Operation& operation, Seconds time, const Gpu& gpu) {
  if (!follows_clocks(operation.kind)) {
    other += time;
    return;
  }
  clocked += time;
  clocked_joules += time.value() * gpu.power->kernel.value() + joules_of_arithmetic(operation, gpu);
}

double clock_slowdown(const GpuPower& power, const GpuLoad& load, const WaitRatio& waiting) {
  if (load.clocked <= Seconds{}) return 1;
  const double limit = power.limit.value();
  const auto above = [&](Watts drawn, Seconds time) { return time.value() * (drawn.value() - limit); };
  // limit * clocked * s^2 - excess * s - clocked_joules = 0
  const auto solved = [&](Seconds idle, Seconds communication) {
    const double excess =
        above(power.kernel, load.other) + above(power.idle, idle) + above(power.communication, communication);
    const double twice = 2 * limit * load.clocked.value();
    return std::max(1.0, (excess + std::sqrt(excess * excess + 2 * twice * load.clocked_joules)) / twice);
  };
  const auto busy = load.clocked * solved({}, {}) + load.other;
  return solved(busy * waiting.idle, busy * waiting.communication);
}

Seconds longest_effective_wait(const GpuPower& power, const GpuLoad& load) {
  constexpr auto window = 80_ms;
  const double watts =
      (load.clocked_joules + load.other.value() * power.kernel.value()) / (load.clocked + load.other).value();
  return window * ((watts - power.limit.value()) / (watts - power.idle.value()));
}

}  // namespace gradway
