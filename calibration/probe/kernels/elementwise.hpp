// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// PyTorch's elementwise kernels, for files that nvcc compiles. Speed depends on how a kernel distributes its
/// loads and stores, so they are distributed as in PyTorch.
/// @source PyTorch 2.11, aten/src/ATen/native/cuda/CUDALoops.cuh and MemoryAccess.cuh
namespace gradway::probe {

constexpr unsigned elementwise_threads = 128;  ///< Per block, in both kernels.

/// Numbers that are loaded or stored at once.
template <class T, int size>
struct alignas(sizeof(T) * size) Pack {
  T number[size];
};

constexpr int vectorized_a_thread = 8;  ///< Numbers per thread.

/// `vectorized_elementwise_kernel`: eight numbers per thread, in packs of 16 bytes of the output; the packs
/// of a block's threads are contiguous.
/// @pre the grid covers the arrays exactly
template <class Out, class In, class Operation>
__global__ void __launch_bounds__(elementwise_threads) vectorized(Out* y, const In* x, Operation operation) {
  constexpr int size = 16 / sizeof(Out);
  constexpr int packs = vectorized_a_thread / size;
  const auto first = std::size_t{blockIdx.x} * elementwise_threads * packs + threadIdx.x;
  Pack<In, size> in[packs];
#pragma unroll
  for (int i = 0; i < packs; ++i)
    in[i] = reinterpret_cast<const Pack<In, size>*>(x)[first + i * elementwise_threads];
#pragma unroll
  for (int i = 0; i < packs; ++i) {
    Pack<Out, size> out;
#pragma unroll
    for (int j = 0; j < size; ++j) out.number[j] = operation(in[i].number[j]);
    reinterpret_cast<Pack<Out, size>*>(y)[first + i * elementwise_threads] = out;
  }
}

/// Type of an array, known only when the kernel runs.
enum class Stored : std::int8_t { u8, s8, s16, s32, s64, boolean, fp16, bf16, fp32, fp64 };

/// The same type, hidden from the compiler: it must look up the type for each number, as PyTorch's long list
/// of types forces it to, and cannot merge the loads of one type.
__device__ inline Stored looked_up(Stored stored) {
  auto number = static_cast<int>(stored);
  asm volatile("" : "+r"(number));
  return static_cast<Stored>(number);
}

/// The number at an address, as fp32.
__device__ inline float load(Stored stored, const void* place) {
  switch (stored) {
    case Stored::u8:
      return *static_cast<const std::uint8_t*>(place);
    case Stored::s8:
      return *static_cast<const std::int8_t*>(place);
    case Stored::s16:
      return *static_cast<const std::int16_t*>(place);
    case Stored::s32:
      return static_cast<float>(*static_cast<const std::int32_t*>(place));
    case Stored::s64:
      return static_cast<float>(*static_cast<const std::int64_t*>(place));
    case Stored::boolean:
      return *static_cast<const bool*>(place);
    case Stored::fp16:
      return *static_cast<const __half*>(place);
    case Stored::bf16:
      return *static_cast<const __nv_bfloat16*>(place);
    case Stored::fp32:
      return *static_cast<const float*>(place);
    case Stored::fp64:
      return static_cast<float>(*static_cast<const double*>(place));
  }
  return 0;
}

__device__ inline void store(Stored stored, void* place, float number) {
  switch (stored) {
    case Stored::u8:
      *static_cast<std::uint8_t*>(place) = static_cast<std::uint8_t>(number);
      break;
    case Stored::s8:
      *static_cast<std::int8_t*>(place) = static_cast<std::int8_t>(number);
      break;
    case Stored::s16:
      *static_cast<std::int16_t*>(place) = static_cast<std::int16_t>(number);
      break;
    case Stored::s32:
      *static_cast<std::int32_t*>(place) = static_cast<std::int32_t>(number);
      break;
    case Stored::s64:
      *static_cast<std::int64_t*>(place) = static_cast<std::int64_t>(number);
      break;
    case Stored::boolean:
      *static_cast<bool*>(place) = number != 0;
      break;
    case Stored::fp16:
      *static_cast<__half*>(place) = __float2half(number);
      break;
    case Stored::bf16:
      *static_cast<__nv_bfloat16*>(place) = __float2bfloat16(number);
      break;
    case Stored::fp32:
      *static_cast<float*>(place) = number;
      break;
    case Stored::fp64:
      *static_cast<double*>(place) = number;
      break;
  }
}

/// An array of numbers whose type is known only when the kernel runs.
struct Untyped {
  char* numbers = nullptr;
  std::uint32_t size = 0;  ///< Size of one number in bytes.
  Stored stored = Stored::fp32;
};

constexpr int unrolled_a_thread = 4;  ///< Numbers per thread.

/// `unrolled_elementwise_kernel` with `LoadWithCast` and `StoreWithCast`: the kernel of `copy_` between
/// types, except for the few pairs with a kernel of their own (fp32 to bf16 has one, bf16 to fp32 has none).
/// Each thread processes four numbers, one at a time, a block's width apart. The type is looked up for each,
/// so a thread waits for one load before it issues the next, and reaches only half of the memory's rate.
static __global__ void __launch_bounds__(elementwise_threads)
    unrolled_with_casts(Untyped y, Untyped x, std::uint32_t count) {
  constexpr auto numbers = elementwise_threads * unrolled_a_thread;
  const auto base = blockIdx.x * numbers;
  const auto remaining = count - base;
  float number[unrolled_a_thread];
  auto place = threadIdx.x;
#pragma unroll
  for (int i = 0; i < unrolled_a_thread; ++i, place += elementwise_threads) {
    if (place >= remaining) break;
    number[i] = load(looked_up(x.stored), x.numbers + std::size_t{x.size} * (base + place));
  }
  place = threadIdx.x;
#pragma unroll
  for (int i = 0; i < unrolled_a_thread; ++i, place += elementwise_threads) {
    if (place >= remaining) break;
    store(looked_up(y.stored), y.numbers + std::size_t{y.size} * (base + place), number[i]);
  }
}

}  // namespace gradway::probe
