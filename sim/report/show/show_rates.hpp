// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/kernel_times.hpp"
#include "sim/cost/measured_rates.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

// The measured rates of a calibration, each as a table with an empty line before it; nothing if there is
// none.
void write_links(std::ostream& out, const std::vector<LinkRate>& links, const Style& style);
void write_kernels(std::ostream& out, const KernelRates& kernels, const Style& style);

/// "0.5 / 2.1 %", median and worst; "-" without an error.
std::string error_text(const std::optional<FitError>& error);

/// Writes what was timed: of each kind and kind of number how many kernels, from which time to which, and the
/// best rate where it has one. A table with an empty line before it.
void write_kernel_times(std::ostream& out, const KernelTimes& times, const Style& style);

}  // namespace gradway::report
