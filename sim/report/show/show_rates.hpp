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

// The measured rates of a calibration. Each function writes a table after an empty line, or nothing if there
// are no rates.
void write_links(std::ostream& out, const std::vector<LinkRate>& links, const Style& style);
void write_kernels(std::ostream& out, const KernelRates& kernels, const Style& style);

/// "0.5 / 2.1 %", median and worst error; "-" if unknown.
std::string error_text(const std::optional<FitError>& error);

/// Writes a table of timed kernels after an empty line: per kind and number format the number of kernels, the
/// shortest and longest time, and the best rate of compute-bound kernels.
void write_kernel_times(std::ostream& out, const KernelTimes& times, const Style& style);

}  // namespace gradway::report
