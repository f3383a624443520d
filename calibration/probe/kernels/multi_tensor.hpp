// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "calibration/probe/device.hpp"

/// PyTorch's multi-tensor kernels, for files that nvcc compiles: one launch works on the chunks of many
/// tensors, whose addresses are passed as arguments.
/// @source PyTorch 2.11, aten/src/ATen/native/cuda/MultiTensorApply.cuh
namespace gradway::probe {

constexpr int most_lists = 4;
constexpr std::array<int, most_lists> most_tensors{110, 64, 48, 36};  ///< Per launch, by the number of lists.
constexpr int most_blocks = 320;  ///< Per launch; each block processes one chunk.
constexpr int chunk = 65536;      ///< numbers
constexpr int chunk_threads = 512;
constexpr int numbers_at_once = 4;  ///< A thread loads this many of each list before it computes.

/// The arguments of one launch on several lists of tensors of the same sizes.
template <int lists>
struct Chunks {
  float* tensor[lists][most_tensors[lists - 1]];
  std::int64_t size[most_tensors[lists - 1]];
  std::uint8_t tensor_of_block[most_blocks];
  std::int32_t chunk_of_block[most_blocks];
};

template <int lists>
struct ChunkLaunch {
  Chunks<lists> chunks{};
  int blocks = 0;
};

/// One list: tensors in one buffer, each aligned as by PyTorch's allocator.
struct TensorList {
  DeviceBuffer buffer;
  std::vector<std::size_t> first;  ///< Index of the first number in the buffer.
  std::vector<std::size_t> size;   ///< numbers

  float* tensor(std::size_t i) const { return static_cast<float*>(buffer.get()) + first[i]; }
};

/// Distributes the chunks of the tensors to launches. A launch is full with its maximum number of tensors or
/// blocks; a tensor that does not fit continues in the next launch.
/// @pre all lists have tensors of the same sizes
template <int lists>
std::vector<ChunkLaunch<lists>> distributed(const std::array<const TensorList*, lists>& all) {
  static_assert(sizeof(Chunks<lists>) <= 4000, "with the operation, at most 4 KiB of arguments");
  constexpr int most = most_tensors[lists - 1];
  std::vector<ChunkLaunch<lists>> launches;
  int tensors = most;  // in the last launch
  for (std::size_t i = 0; i < all[0]->size.size(); ++i) {
    const auto size = static_cast<std::int64_t>(all[0]->size[i]);
    const auto chunks = static_cast<int>((size + chunk - 1) / chunk);
    bool is_listed = false;  // in the last launch
    for (int c = 0; c < chunks; ++c) {
      const bool is_full = launches.empty() || launches.back().blocks == most_blocks;
      if (is_full || (!is_listed && tensors == most)) {
        launches.emplace_back();
        tensors = 0;
        is_listed = false;
      }
      auto& launch = launches.back();
      if (!is_listed) {
        for (int list = 0; list < lists; ++list)
          launch.chunks.tensor[list][tensors] = all[static_cast<std::size_t>(list)]->tensor(i);
        launch.chunks.size[tensors++] = size;
        is_listed = true;
      }
      launch.chunks.tensor_of_block[launch.blocks] = static_cast<std::uint8_t>(tensors - 1);
      launch.chunks.chunk_of_block[launch.blocks++] = c;
    }
  }
  return launches;
}

/// An operation has `lists`, `reads` and `writes` (one bit per list), and a call operator that takes one
/// number of each list by reference.
template <class Operation>
__global__ void __launch_bounds__(chunk_threads)
    apply(const Chunks<Operation::lists> chunks, const Operation operation) {
  constexpr int lists = Operation::lists;
  const int tensor = chunks.tensor_of_block[blockIdx.x];
  const auto offset = std::int64_t{chunks.chunk_of_block[blockIdx.x]} * chunk;
  const auto rest = chunks.size[tensor] - offset;
  const int count = rest < chunk ? static_cast<int>(rest) : chunk;
  float* place[lists];
  bool is_aligned = rest % numbers_at_once == 0;  // of the whole rest, as in PyTorch: also of its full chunks
#pragma unroll
  for (int list = 0; list < lists; ++list) {
    place[list] = chunks.tensor[list][tensor] + offset;
    is_aligned = is_aligned && reinterpret_cast<std::uintptr_t>(place[list]) % sizeof(float4) == 0;
  }
  if (is_aligned) {
    for (int i = static_cast<int>(threadIdx.x); i * numbers_at_once < count; i += chunk_threads) {
      union {
        float4 pack;
        float number[numbers_at_once];
      } value[lists];
#pragma unroll
      for (int list = 0; list < lists; ++list)
        if (Operation::reads >> list & 1) value[list].pack = reinterpret_cast<const float4*>(place[list])[i];
#pragma unroll
      for (int j = 0; j < numbers_at_once; ++j)
        operation([&](int list) -> float& { return value[list].number[j]; });
#pragma unroll
      for (int list = 0; list < lists; ++list)
        if (Operation::writes >> list & 1) reinterpret_cast<float4*>(place[list])[i] = value[list].pack;
    }
    return;
  }
  for (int begin = static_cast<int>(threadIdx.x); begin < count; begin += chunk_threads * numbers_at_once) {
    float value[lists][numbers_at_once];
#pragma unroll
    for (int list = 0; list < lists; ++list)
#pragma unroll
      for (int j = 0; j < numbers_at_once; ++j) {
        const int i = begin + j * chunk_threads;
        value[list][j] = (Operation::reads >> list & 1) && i < count ? place[list][i] : 0.0f;
      }
#pragma unroll
    for (int j = 0; j < numbers_at_once; ++j) operation([&](int list) -> float& { return value[list][j]; });
#pragma unroll
    for (int list = 0; list < lists; ++list)
#pragma unroll
      for (int j = 0; j < numbers_at_once; ++j) {
        const int i = begin + j * chunk_threads;
        if ((Operation::writes >> list & 1) && i < count) place[list][i] = value[list][j];
      }
  }
}

}  // namespace gradway::probe
