// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "readers/fit/fit.hpp"

namespace gradway {

/// An adapted calibration, and the number of samples that were not used.
struct Adapted {
  Calibration calibration;
  int left_out = 0;  ///< Rows of collectives and copies without a table or link in the calibration.
};

/// Calibration transfer: scales a calibration to another machine of the same kind by a few rows measured
/// there. The tables of each transport, number of ranks and nodes, and each link, get two scale factors of
/// time: of the fixed part and of the part that grows with the bytes (`fit_scales`). Numbers of ranks without
/// a row get the factors of all rows of their transport. Everything else is kept: tables of other transports,
/// kernels and contention.
///
/// The uncertainty of a table is the 90 % bound of the leave-one-out errors of its transport's rows; it is
/// absent with fewer than nine rows.
/// @validated tests/fit/adapt_test.cpp
/// @throws ConfigError if the calibration has no tables or links, no row belongs to one, or rows take more
/// than four times, or less than a quarter of, their calibrated times: two machines of a kind do not differ
/// that much
Adapted adapt(const Calibration& calibration, const Samples& samples, const CalibrationTitle& title);

}  // namespace gradway
