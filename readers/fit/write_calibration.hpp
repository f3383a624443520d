// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Writes a fitted calibration as a calibration file that reads back to the same values, to five digits.
/// @pre no single collectives, which are written by hand
void write_calibration_file(std::ostream& out, const Calibration& calibration);

}  // namespace gradway
