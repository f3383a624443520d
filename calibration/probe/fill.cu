// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/fill.hpp"

namespace gradway::probe {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned blocks = 2048;

__global__ void fill(float* values, std::size_t count, int rank, std::size_t begin) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    values[i] = random_value(rank, begin + i);
}

__global__ void compare(const float* values, std::size_t count, int first, int last, std::size_t begin,
                        unsigned long long* wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    float sum = 0;
    for (int rank = first; rank <= last; ++rank) sum += random_value(rank, begin + i);
    if (values[i] != sum) atomicAdd(wrong, 1ULL);
  }
}

}  // namespace

void fill_random(const Stream& stream, float* values, std::size_t count, int rank, std::size_t begin) {
  if (count == 0) return;
  fill<<<blocks, threads, 0, stream.get()>>>(values, count, rank, begin);
  check(cudaGetLastError(), "filling memory");
}

std::size_t count_wrong(const Stream& stream, const float* values, std::size_t count, int first_rank,
                        int last_rank, std::size_t begin) {
  const PinnedBuffer wrong{sizeof(unsigned long long)};
  auto* const counter = static_cast<unsigned long long*>(wrong.get());
  *counter = 0;
  compare<<<blocks, threads, 0, stream.get()>>>(values, count, first_rank, last_rank, begin, counter);
  check(cudaGetLastError(), "comparing results");
  stream.wait();
  return *counter;
}

}  // namespace gradway::probe
