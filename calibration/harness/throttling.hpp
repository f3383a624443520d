// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradway::probe {

/// Describes what slowed a GPU, from the driver's reasons at several times (bits of
/// nvmlClocksThrottleReasons); empty if nothing did. Idle clocks, user settings and display limits do not
/// count as throttling.
/// @source nvml.h, nvmlClocksEventReasons
std::string throttling_text(int gpu, const std::vector<std::uint64_t>& reasons);

}  // namespace gradway::probe
