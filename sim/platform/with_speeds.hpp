// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Limits of speed factors in scenarios. They keep rates finite; factors beyond them make no difference.
inline constexpr double smallest_speed = 1e-6;
inline constexpr double largest_speed = 1e12;

/// The part of the hardware that each resource belongs to. The link of a NIC to its slot counts as network,
/// since its bandwidth follows from the NIC.
std::vector<HardwarePart> parts_of_resources(const Platform& platform);

/// Sets the speed factors of a platform; earlier factors are replaced. Capacities stay as built, since NCCL
/// chooses algorithms by them.
Platform with_speeds(Platform platform, const SpeedFactors& speeds);

}  // namespace gradway
