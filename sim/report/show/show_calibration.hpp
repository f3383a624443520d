// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/cost/calibration.hpp"
#include "sim/report/text/style.hpp"

namespace gradway::report {

/// Writes what was measured on a node: each table with its range, its latency and bandwidth, how far it is
/// from its samples (median and worst) and how far an inner size is from a table without it; the samples that
/// no table follows; links, kernels, and what kernels and collectives cost each other.
void write_calibration(std::ostream& out, const Calibration& calibration, const Style& style);

}  // namespace gradway::report
