// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/text/style.hpp"
#include "sim/workload/profile.hpp"

namespace gradway::report {

/// Writes what a profile holds: where it was taken, its times, gradients and buffers, launches by phase and
/// class, and whether the CPU or the GPU sets its pace.
void write_profile(std::ostream& out, const Profile& profile, const Style& style);

}  // namespace gradway::report
