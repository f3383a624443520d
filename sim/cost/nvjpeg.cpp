// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/nvjpeg.hpp"

namespace gradway {

JpegCost nvjpeg_cost(Bytes stored, double pixels, double load, const Gpu& gpu) {
  constexpr double measured_pixels = 500 * 375;
  constexpr Bytes measured_size{73070};
  constexpr Seconds huffman{171e-6};
  constexpr Seconds hybrid_kernels{8.4e-6};
  constexpr Seconds decoder_cpu{26e-6};
  constexpr Seconds decoder_kernels{6.5e-6};
  constexpr double measured_multiprocessors = 132;
  const auto slower = gpu.multiprocessors > 0 ? measured_multiprocessors / gpu.multiprocessors : 1;
  JpegCost cost;
  cost.cpu = huffman * ((1 - load) * (stored / measured_size)) + decoder_cpu * load;
  cost.gpu = (hybrid_kernels * (1 - load) + decoder_kernels * load) * (slower * pixels / measured_pixels);
  if (load > 0) cost.decoder = Seconds{load * pixels / gpu.jpeg_decoder};
  return cost;
}

}  // namespace gradway
