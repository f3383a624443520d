// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/import/kineto/read/trace.hpp"

namespace gradway {

/// Thread blocks of a kernel that fit on a multiprocessor at once, by its threads, registers and shared
/// memory. 0 if the trace does not state the limits of the GPU.
/// @source CUDA C++ Programming Guide 12, "Compute Capabilities", and the occupancy calculator of the CUDA
/// toolkit: registers are handed out to warps in units of 256, on each of the four parts of a
/// multiprocessor; a block's shared memory in units of 128 bytes with 1 KiB of CUDA's own (8.0 and later).
int blocks_per_multiprocessor(const TracedActivity& kernel, const DeviceLimits& limits);

}  // namespace gradway
