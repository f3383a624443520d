// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibration/probe/device.hpp"

namespace gradway::probe {

/// Element i of the data of a rank: random multiples of 1/256 below 1, so that sums over up to 65,536 ranks
/// are exact in single precision in any order. Zeros would draw less power than real gradients.
__host__ __device__ inline float random_value(int rank, std::size_t i) {
  std::uint64_t x = i * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(rank + 1) * 0xd1b54a32d192ed03ULL;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  return static_cast<float>(x & 0xff) / 256;
}

/// Writes the data of a rank to `values`: element i is random_value(rank, begin + i).
void fill_random(const Stream& stream, float* values, std::size_t count, int rank, std::size_t begin = 0);

/// Number of values that differ from the sum of the ranks' data: ranks first ... last, elements from `begin`.
/// Waits for the stream.
std::size_t count_wrong(const Stream& stream, const float* values, std::size_t count, int first_rank,
                        int last_rank, std::size_t begin);

}  // namespace gradway::probe
