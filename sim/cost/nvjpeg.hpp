// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"

namespace gradway {

/// Cost of decoding a JPEG image by nvJPEG, as DALI's mixed decoder uses it.
struct JpegCost {
  Seconds cpu{};      ///< on one core: Huffman decoding, or what the driver needs for the hardware decoder
  Seconds gpu{};      ///< of all multiprocessors: inverse transform, upsampling, conversion of colors
  Seconds decoder{};  ///< of the hardware decoder
};

/// @param stored compressed size
/// @param load share of images that the hardware decoder decodes; nvJPEG's hybrid backend decodes the others
/// @source own measurement, 2026-11-26, one H200 (nvJPEG 13.0, images of 500 x 375, 73 kB, batches of 64):
///         the hybrid backend takes 171 us of a core and 8.4 us of the GPU, by which products of 8192 that
///         run at the same time get longer; the hardware decoder 26 us of a core and 6.5 us of the GPU.
///         Kernels are extrapolated to other GPUs by their multiprocessors. On an A100, the hybrid backend
///         takes 574 us for an image of 551 x 676 (github.com/pytorch/vision, pull request 8496)
JpegCost nvjpeg_cost(Bytes stored, double pixels, double load, const Gpu& gpu);

}  // namespace gradway
