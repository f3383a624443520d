// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "calibration/probe/kernels/elements.hpp"

namespace gradway::probe {
namespace {

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), the finaliser of splitmix64.
__device__ std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A normal number by Box and Muller (1958); at most 5.8, within the range of every element.
__device__ float normal(std::uint64_t place) {
  const auto bits = scrambled(place);
  const auto radius = static_cast<float>((bits >> 40) + 1) * 0x1p-24f;   // (0, 1]
  const auto angle = static_cast<float>((bits & 0xffffffu)) * 0x1p-24f;  // [0, 1)
  return sqrtf(-2.0f * logf(radius)) * cospif(2.0f * angle);
}

template <class T>
__global__ void fill(T* numbers, std::size_t count, std::uint64_t offset) {
  const auto step = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    numbers[i] = static_cast<T>(normal(offset + i));
}

/// Calls `use` with a null pointer to the type of the element.
template <class Use>
auto with_type(Element element, const Use& use) {
  switch (element) {
    case Element::fp16:
      return use(static_cast<__half*>(nullptr));
    case Element::bf16:
      return use(static_cast<__nv_bfloat16*>(nullptr));
    case Element::fp8:
      return use(static_cast<__nv_fp8_e4m3*>(nullptr));
    case Element::fp32:
      break;
  }
  return use(static_cast<float*>(nullptr));
}

}  // namespace

std::size_t size_of(Element element) {
  return with_type(element, [](auto* type) { return sizeof *type; });
}

void fill_normal(const DeviceBuffer& buffer, Element element, std::size_t count, std::uint32_t seed) {
  constexpr std::size_t block = 256;
  constexpr std::size_t most_blocks = 4096;
  const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(count / block, 1, most_blocks));
  with_type(element, [&](auto* type) {
    fill<<<blocks, block>>>(static_cast<decltype(type)>(buffer.get()), count, std::uint64_t{seed} << 40);
  });
  check(cudaGetLastError(), "launching a kernel that fills a buffer");
  check(cudaDeviceSynchronize(), "filling a buffer");
}

std::vector<float> values(const DeviceBuffer& buffer, Element element, std::size_t first, std::size_t count) {
  check(cudaDeviceSynchronize(), "waiting for the GPU");
  return with_type(element, [&](auto* type) {
    std::vector<std::remove_pointer_t<decltype(type)>> numbers(count);
    check(cudaMemcpy(numbers.data(), static_cast<decltype(type)>(buffer.get()) + first, count * sizeof *type,
                     cudaMemcpyDeviceToHost),
          "copying numbers from the GPU");
    std::vector<float> widened(count);
    std::ranges::transform(numbers, widened.begin(), [](auto number) { return static_cast<float>(number); });
    return widened;
  });
}

}  // namespace gradway::probe
