// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// How many times longer a kernel takes when `channels` of the GPU's multiprocessors are busy with a
/// collective: its thread blocks then run in more waves. A kernel whose blocks are not known, or that the
/// memory bounds, takes the smooth form, multiprocessors / (multiprocessors - channels). A persistent
/// kernel's tiles spread over what is left: fused attention's, of which there are many, smoothly; a product's
/// in waves on two multiprocessors less for each channel, as its blocks come in clusters of two. 1 if the
/// number of multiprocessors is not known.
/// @source the law was checked on our traces of DDP on 4 H200: a product of 112 blocks, one a multiprocessor,
/// takes
///         2.1 times longer beside 24 channels (132 - 24 = 108 are left), one of 3,200 blocks 1.17 times.
/// Persistent kernels: two H100, 2026-11-25, PyTorch 2.11, beside an all-reduce of 512 MiB (of 4 channels; of
/// 24): nvjet with 256 tiles 1.49 (1.93) times, with 512 tiles 1.25 (1.75), with 2,752 tiles 1.12 (1.33);
/// cuDNN's attention 1.05 (1.3)
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
const ContentionFactors* measured_contention(const std::vector<ContentionFactors>& rows, Transport transport,
                                             int ranks, const Footprint& kernel, int channels);

}  // namespace gradway
