// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Whether a collective or a copy of that size can take that time. Far from everything that was ever
/// measured: at least what a memory a thousand times as fast as that of the fastest GPU of today takes, at
/// most a second and one more for each MB.
bool is_plausible(const SizedTime& measured);

/// "1 B in 1e+08 s cannot be"
std::string implausible_text(const SizedTime& measured);

}  // namespace gradway
