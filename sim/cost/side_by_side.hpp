// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// How many times longer a kernel takes when `channels` of the GPU's multiprocessors are busy with a
/// collective: its thread blocks then run in more waves. A kernel whose blocks are not known, or that the
/// memory bounds, takes the smooth form, multiprocessors / (multiprocessors - channels). 1 if the number of
/// multiprocessors is not known.
/// @source the law was checked on our traces of DDP on 4 H200: a product of 112 blocks, one a multiprocessor,
/// takes
///         2.1 times longer beside 24 channels (132 - 24 = 108 are left), one of 3,200 blocks 1.17 times
double wave_slowdown(const Footprint& kernel, int multiprocessors, int channels);

/// A collective of `channels` thread blocks that gets ready while the kernel runs finds no multiprocessor
/// free before the kernel ends. False if the kernel's blocks are not known.
/// @source our traces of DDP on 4 H200 over host memory: a reduction that follows another starts when the
/// running
///         product ends, and over 256 MiB all-reduces beside 4096^3 products exactly one passes a product
bool holds_back(const Footprint& kernel, int multiprocessors, int channels);

/// The measurement that fits a kernel best: of the transport, of the kernel's class (single-precision
/// products have rows of their own, all else takes those of bf16), of the nearest number of ranks (the larger
/// of two), and of the nearest number of channels (the smaller of two; one without channels only if there is
/// no other). Rows of another precision stand in where there are none. Null if nothing was measured for the
/// transport.
/// @param channels that the collective runs with
const SideBySide* measured_beside(const std::vector<SideBySide>& rows, Transport transport, int ranks,
                                  const Footprint& kernel, int channels);

}  // namespace gradway
