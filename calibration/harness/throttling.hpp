// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradway::probe {

/// Says in words what slowed a GPU, from the driver's reasons at some dates (bits of
/// nvmlClocksThrottleReasons); empty if nothing did. Idle clocks, settings of the owner and display limits
/// are no throttling.
/// @source nvml.h, nvmlClocksEventReasons
std::string throttling_text(int gpu, const std::vector<std::uint64_t>& reasons);

}  // namespace gradway::probe
