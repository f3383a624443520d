// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// The way of a copy from host memory to a GPU.
struct HostCopyWay {
  std::vector<ResourceId> resources;  ///< the memory of the GPU's socket, then the links down to the GPU
  BytesPerSecond slowest{};           ///< of these, alone, as built
  Seconds latency{};                  ///< from the call to the first byte
};

/// A copy engine's share against another flow of the same link or memory: it keeps more requests under way
/// than the threads of a collective.
/// @source own measurement, 2026-11-21, H200: DDP of vit_l_32 through host memory beside a prefetch of 1 GB a
/// step
///         takes 19.9 ms longer on 4 GPUs and 11.5 ms on 3. Equal shares give 10.3 and 1.5 ms, 6 to 1 12.5
///         and 11.7
inline constexpr double copy_engine_weight = 6;

/// @return nothing if the platform has no host memory (generated platforms)
std::optional<HostCopyWay> host_copy_way(const Routes& routes, const Platform& platform, std::size_t gpu);

/// The way back: the links up from the GPU, then the memory.
std::optional<HostCopyWay> way_to_host(const Routes& routes, const Platform& platform, std::size_t gpu);

}  // namespace gradway
