// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// The least and the largest speed that a scenario can ask for: far beyond what makes a difference, near
/// enough to compute with.
inline constexpr double smallest_speed = 1e-6;
inline constexpr double largest_speed = 1e12;

/// The part of the hardware that each resource belongs to. A NIC's link to its slot belongs to the network:
/// it is as wide as the NIC.
std::vector<Part> parts_of_resources(const Platform& platform);

/// The same platform with links and memories so many times as fast as it was built with, whatever its speeds
/// were before. Capacities as built stay readable: NCCL chooses by them.
Platform with_speeds(Platform platform, const Speeds& speeds);

}  // namespace gradway
