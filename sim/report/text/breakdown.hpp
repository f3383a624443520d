// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/metrics/metrics.hpp"
#include "sim/report/text/style.hpp"

namespace gradway::report {

/// Writes where the step's time goes: a bar of stacked parts, then a row for each part with its time and its
/// share. The parts add up to the step; communication that kernels hide is told beside them.
void write_breakdown(std::ostream& out, const Metrics& metrics, const Style& style);

}  // namespace gradway::report
