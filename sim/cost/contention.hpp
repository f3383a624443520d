// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Slow-down of a kernel while a collective occupies `channels` of the GPU's multiprocessors, since its
/// thread blocks then need more waves. A memory-bound kernel, or one of unknown blocks, slows down smoothly
/// by multiprocessors / (multiprocessors - channels). The tiles of a persistent kernel are spread over the
/// free multiprocessors: smoothly for fused attention, which has many tiles; in waves for a product, which
/// loses two multiprocessors per channel, since its blocks form clusters of two. 1 if the number of
/// multiprocessors is unknown.
/// @source our traces of DDP on 4 H200: with 24 channels (132 - 24 = 108 multiprocessors are left), a product
/// of
///         112 blocks, one per multiprocessor, takes 2.1 times as long, one of 3,200 blocks 1.17 times.
///         Persistent kernels: two H100, 2026-11-25, PyTorch 2.11, during an all-reduce of 512 MiB with 4
///         channels (24 channels): nvjet with 256 tiles 1.49 (1.93) times, with 512 tiles 1.25 (1.75), with
///         2,752 tiles 1.12 (1.33); cuDNN's attention 1.05 (1.3)
double wave_slowdown(const Footprint& kernel, int multiprocessors, int channels);

/// Whether a kernel leaves no multiprocessor free for a collective of `channels` thread blocks, which then
/// cannot start before the kernel ends. False if the kernel's blocks are unknown.
/// @source our traces of DDP on 4 H200 over host memory: a reduction that follows another one starts when the
///         running product ends; during all-reduces of 256 MiB and 4096^3 products, exactly one all-reduce
///         starts per product
bool blocks_collective(const Footprint& kernel, int multiprocessors, int channels);

/// The best matching measurement of contention: same transport; same class of kernel (single-precision
/// products have their own rows, all others use those of bf16; another precision only if there is none);
/// nearest number of ranks (of two equally near, the larger); nearest number of channels (of two equally
/// near, the smaller; unknown channels last). Null if nothing was measured for the transport.
/// @param channels channels of the collective
const ContentionFactors* measured_contention(const std::vector<ContentionFactors>& rows, Transport transport,
                                             int ranks, const Footprint& kernel, int channels);

}  // namespace gradway
