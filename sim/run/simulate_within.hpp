// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "sim/base/units.hpp"
#include "sim/run/simulate.hpp"

namespace gradway {

/// Which jobs are simulated, by the memory of their GPUs.
enum class MemoryLimit { none, fits, surely_fits };

/// What a step may take at most. A simulation ends early where it is known to take more.
struct StepLimits {
  Seconds time = Seconds::infinite();
  MemoryLimit memory = MemoryLimit::none;
};

/// A step was not simulated to its end, because it takes more than its limits.
struct BeyondLimits {
  /// Memory of a GPU; empty: the step takes too long, or the job fits, but not surely.
  std::optional<Bytes> needs{};
};

/// The same run as `simulate`, unless the step is known to be beyond the limits:
/// * Memory is known as soon as the step is planned and NCCL's connections are known.
/// * A GPU at its power limit has the lowest clocks if it never waits. The first simulation has these clocks,
///   the second those of a GPU that waits as long as in the first, which are higher by at most the ratio r of
///   the two slow-downs. All work of the second simulation lasts at least r times as long as in the first,
///   and a step in which all work lasts r times as long takes r times as long. So the second step takes
///   at least r times as long as the first, apart from what work gains that meets less other work. It is not
///   simulated if that is beyond the limit by 0.1 %.
std::variant<Run, BeyondLimits> simulate_within(const StepLimits& limits, Scenario scenario,
                                                std::string_view engine = "auto");

}  // namespace gradway
