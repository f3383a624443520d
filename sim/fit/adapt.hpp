// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/fit/fit.hpp"

namespace gradway {

/// A calibration that was adapted, and what of the samples had no part in it.
struct Adapted {
  Calibration calibration;
  int left_out = 0;  ///< rows of collectives and copies that the calibration has no table or link for
};

/// A calibration of a kind of machine, scaled to one of them by a few rows that were measured there: the
/// tables of each transport, number of ranks and nodes, and each link, get two scales of time, of what no
/// bytes explain and of a byte (`fit_scales`). Numbers of ranks without a row get the scales of all rows of
/// their transport, those of other transports stay, and so does all else: kernels, and what runs side by
/// side.
///
/// The doubt of a table is within what nine of ten rows of its transport come out that the scales of their
/// number of ranks did not get; without nine rows none is said.
/// @validated tests/fit/adapt_test.cpp
/// @throws ConfigError if the calibration has no tables or links, no row is one of theirs, or rows take more
/// than four times, or less than a quarter of, their times: no two machines of a kind differ by that
Adapted adapt(const Calibration& calibration, const Samples& samples, const CalibrationTitle& title);

}  // namespace gradway
