// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/fit/fit.hpp"

namespace gradway {

/// An adapted calibration, and the number of samples that were not used.
struct Adapted {
  Calibration calibration;
  int left_out = 0;  ///< rows of collectives and copies without a table or link in the calibration
};

/// A calibration of a kind of machine, scaled to one of them by a few rows that were measured there: the
/// tables of each transport, number of ranks and nodes, and each link, get two scales of time, of what no
/// bytes explain and of a byte (`fit_scales`). Numbers of ranks without a row get the scales of all rows of
/// their transport, those of other transports stay, and so does all else: kernels, and what runs side by
/// side.
///
/// The uncertainty of a table is the 90 % bound of the leave-one-out errors of its transport's rows; it is
/// absent if there are fewer than nine rows.
/// @validated tests/fit/adapt_test.cpp
/// @throws ConfigError if the calibration has no tables or links, no row is one of theirs, or rows take more
/// than four times, or less than a quarter of, their times: no two machines of a kind differ by that
Adapted adapt(const Calibration& calibration, const Samples& samples, const CalibrationTitle& title);

}  // namespace gradway
