// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/cost/calibration.hpp"
#include "sim/cost/measured_rates.hpp"

namespace gradway {

/// Writes a fitted calibration as a calibration file that reads back to the same values, to five digits.
/// @pre no single collectives, which are written by hand
void write_calibration_file(std::ostream& out, const Calibration& calibration);

// Entries of a calibration file: of links, of shared_limits, and the whole of kernels.
void write_link(std::ostream& out, const LinkRate& link);
void write_shared_limit(std::ostream& out, const SharedLimit& limit);
void write_kernels(std::ostream& out, const KernelRates& kernels);

}  // namespace gradway
