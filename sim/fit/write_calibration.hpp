// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/cost/calibration.hpp"
#include "sim/cost/measured_rates.hpp"

namespace gradway {

/// Writes a fitted calibration as a calibration file that reads back to the same values, to five digits.
/// @pre no single collectives, which are written by hand
void write_calibration_file(std::ostream& out, const Calibration& calibration);

// Write an entry of the list `links`, and the section `kernels`.
void write_link(std::ostream& out, const LinkRate& link);
void write_kernels(std::ostream& out, const KernelRates& kernels);

}  // namespace gradway
