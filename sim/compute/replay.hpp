// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A launch of a step on one GPU without communication.
struct ReplayedLaunch {
  Seconds cpu{};
  Seconds gpu{};
  bool host_waits = false;
};

/// Step time in the steady state. One CPU thread launches in order, one stream runs in order with a `pause`
/// before each kernel, a kernel never starts before its launch, and the CPU is ahead by at most the depth of
/// the launch queue.
/// @param cpu_scale factor on the CPU time of launches; 0: the CPU takes no time
Seconds replay(const std::vector<ReplayedLaunch>& step, double cpu_scale, Seconds pause);

}  // namespace gradway
