// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/cost/kernel_times.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Writes what was timed: of each kind and kind of number how many kernels, from which time to which, and the
/// best rate where it has one. A table with an empty line before it.
void write_kernel_times(std::ostream& out, const KernelTimes& times, const Style& style);

}  // namespace gradway::report
