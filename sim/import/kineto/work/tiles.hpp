// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/import/kineto/read/trace.hpp"

namespace gradway {

/// Tiles of the result that the thread blocks of a persistent kernel take one after the other from a
/// scheduler: cuBLAS' kernels for Hopper and later (nvjet, with the tile's size in their names), and the
/// fused attention of cuDNN and FlashAttention 3. 0: the kernel has a block for each of its tiles, or which
/// it has is not known.
/// @source beside NCCL on two H100, 2026-11-25 (tests/cost/side_by_side_test.cpp): these spread over the
/// multiprocessors that are left; cuDNN's convolutions, which fill all of them once too, take twice as long
std::int64_t tiles_of(std::string_view kernel, const Signature& operation);

}  // namespace gradway
