// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A launch as one GPU without communication sees it.
struct ReplayedLaunch {
  Seconds cpu{};
  Seconds gpu{};
  bool host_waits = false;
};

/// Time of a step in the steady state: one CPU thread launches in order, one stream runs in order with a
/// `pause` before each kernel, a kernel never starts before its launch, and the CPU is never more than the
/// depth of the launch queue ahead.
/// @param cpu_scale every launch's CPU time is multiplied by it; 0: the CPU takes no time
Seconds replay(const std::vector<ReplayedLaunch>& step, double cpu_scale, Seconds pause);

}  // namespace gradway
