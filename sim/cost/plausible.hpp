// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Whether the measured time of a collective or a copy is possible. The limits are far from all known
/// measurements: at least the time of a memory that is a thousand times as fast as that of today's fastest
/// GPU, at most one second plus one second per MB.
bool is_plausible(const SizedTime& measured);

/// The error message: "a time of 1e+08 s for 1 B is implausible".
std::string implausible_text(const SizedTime& measured);

}  // namespace gradway
